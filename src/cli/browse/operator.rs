//! The thread that works out differences and plans, and does what the person agreed to: one thing after the other.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender};

use super::deeds;
use super::describe::describe;
use super::main_loop::Event;
use super::place::{Place, in_words};
use super::work::{Order, Report, View};

/// Carries out orders.
pub(super) struct Operator {
    place: Place,
    orders: Receiver<Order>,
    /// Those that came while something else was done.
    waiting: VecDeque<Order>,
    reports: Sender<Event>,
}

impl Operator {
    pub(super) fn new(place: Place, orders: Receiver<Order>, reports: Sender<Event>) -> Operator {
        Operator { place, orders, waiting: VecDeque::new(), reports }
    }

    /// Goes on until the screen closes.
    pub(super) fn run(mut self) {
        while let Some(order) = self.next() {
            let Some(report) = self.carry_out(order) else { continue };
            if self.reports.send(Event::Report(report)).is_err() {
                return;
            }
        }
    }

    /// The next order; of several that ask to look at something, the last. None if there will be no more.
    fn next(&mut self) -> Option<Order> {
        if self.waiting.is_empty() {
            self.waiting.push_back(self.orders.recv().ok()?);
        }
        self.waiting.extend(self.orders.try_iter());
        let is_look = |order: &Order| matches!(order, Order::Look(_));
        let last = self.waiting.iter().rposition(is_look);
        let mut at = 0;
        self.waiting.retain(|order| {
            at += 1;
            !is_look(order) || Some(at - 1) == last
        });
        self.waiting.pop_front()
    }

    fn carry_out(&mut self, order: Order) -> Option<Report> {
        match order {
            Order::Look(view) => self.look(view),
            Order::Plan(deed) => {
                let plan = self.place.open().and_then(|mut context| deeds::plan(&mut context, &self.place, &deed));
                Some(Report::Planned(deed, plan))
            }
            Order::Do(deed) => {
                let outcome = match self.place.open() {
                    Ok(mut context) => deeds::carry_out(&mut context, &self.place, &deed),
                    Err(trouble) => deeds::failed(&trouble, Vec::new()),
                };
                Some(Report::Done(deed, outcome))
            }
            // That is for the other thread.
            Order::Read { .. } => None,
        }
    }

    /// None if another look was asked for meanwhile.
    fn look(&mut self, view: View) -> Option<Report> {
        let context = match self.place.open() {
            Ok(context) => context,
            Err(trouble) => return Some(Report::Change(view, Err(trouble))),
        };
        let (orders, waiting) = (&self.orders, &mut self.waiting);
        let is_unwanted = || {
            waiting.extend(orders.try_iter());
            !waiting.is_empty()
        };
        match describe(&context, view, is_unwanted) {
            Ok(Some(change)) => Some(Report::Change(view, Ok(change))),
            Ok(None) => {
                // What came meanwhile may not have been a look: then this one is still wanted.
                if !self.waiting.iter().any(|order| matches!(order, Order::Look(_))) {
                    self.waiting.push_back(Order::Look(view));
                }
                None
            }
            Err(error) => Some(Report::Change(view, Err(in_words(&error)))),
        }
    }
}
