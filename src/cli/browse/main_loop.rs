//! Keys and reports in, pictures out. Nothing here waits for anything but the next of them.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use ratatui::crossterm::event;

use super::draw::draw;
use super::keys;
use super::operator::Operator;
use super::place::Place;
use super::screen::Screen;
use super::terminal::Stage;
use super::times::Times;
use super::watcher::Watcher;
use super::work::{Order, Report};
use crate::cli::output::Clock;
use crate::ops::Context;
use crate::sys::{self, signals};

/// What the loop goes by.
pub(super) enum Event {
    /// Something that a person did, and when it arrived.
    Input(event::Event, Instant),
    /// The terminal is gone.
    InputLost,
    /// One of the threads has something to say.
    Report(Report),
}

/// How the screen was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The person wanted to.
    Asked,
    /// The terminal went away.
    Lost,
    /// By this signal.
    Signal(i32),
}

/// So often it is looked whether a signal came, and whether ages have to be drawn anew.
const TICK: Duration = Duration::from_millis(100);
const AGES: Duration = Duration::from_secs(10);

/// The threads behind the screen.
struct Workers {
    watcher: Sender<Order>,
    operator: Sender<Order>,
}

impl Workers {
    /// Starts them. They end with the process: what they do in the database and in the worktree does not end half-way, as the loop
    /// waits for that.
    fn start(place: &Place, context: Context, events: &Sender<Event>) -> io::Result<Workers> {
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name.to_owned()).spawn(work).map(|_| ())
        };
        let (watcher, watcher_orders) = mpsc::channel();
        let (operator, operator_orders) = mpsc::channel();
        let watching = Watcher::new(place.clone(), watcher_orders, events.clone());
        spawn("watcher", Box::new(move || watching.run(context)))?;
        let operating = Operator::new(place.clone(), operator_orders, events.clone());
        spawn("operator", Box::new(move || operating.run()))?;
        let input = events.clone();
        spawn("input", Box::new(move || read_input(&input)))?;
        Ok(Workers { watcher, operator })
    }

    fn ask(&self, order: Order) {
        let worker = match order {
            Order::Read { .. } => &self.watcher,
            Order::Look(_) | Order::Plan(_) | Order::Do(_) => &self.operator,
        };
        // Neither ends before the screen does.
        let _ = worker.send(order);
    }
}

fn read_input(events: &Sender<Event>) {
    loop {
        let event = match event::read() {
            Ok(event) => Event::Input(event, Instant::now()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => Event::InputLost,
        };
        let is_lost = matches!(event, Event::InputLost);
        if events.send(event).is_err() || is_lost {
            return;
        }
    }
}

/// Shows the screen until it is left.
pub(super) fn run(place: &Place, context: Context, screen: &mut Screen, times: &mut Times) -> io::Result<Left> {
    signals::note_requests_to_end();
    let mut stage = Stage::take(screen.look.colored)?;
    let (sender, events) = mpsc::channel();
    let workers = Workers::start(place, context, &sender)?;
    let mut drawn_at = Instant::now();
    let mut left = None;
    let mut is_stale = true;
    loop {
        if is_stale && left.is_none() {
            screen.clock = Clock::new(sys::now_millis());
            stage.terminal.draw(|frame| draw(frame, screen))?;
            times.drawn(screen.timeline.counts().0 > 0);
            drawn_at = Instant::now();
        }
        is_stale = next(&events, &workers, screen, times, &mut left) || drawn_at.elapsed() >= AGES;
        left = left.or(signals::request_to_end().map(Left::Signal));
        left = left.or(screen.is_left.then_some(Left::Asked));
        if let Some(left) = left
            && !screen.is_at_work()
        {
            return Ok(left);
        }
    }
}

/// Takes in what has come. True if that may show.
fn next(events: &Receiver<Event>, workers: &Workers, screen: &mut Screen, times: &mut Times, left: &mut Option<Left>) -> bool {
    let first = match events.recv_timeout(TICK) {
        Ok(event) => event,
        Err(RecvTimeoutError::Timeout) => return false,
        Err(RecvTimeoutError::Disconnected) => {
            *left = Some(Left::Lost);
            return false;
        }
    };
    // Keys that came while something was drawn are answered by one picture.
    for event in std::iter::once(first).chain(events.try_iter()) {
        let orders = match event {
            Event::Input(input, arrived) => {
                times.arrived(arrived);
                keys::handle(screen, &input)
            }
            Event::InputLost => {
                *left = Some(Left::Lost);
                Vec::new()
            }
            Event::Report(report) => screen.take(report),
        };
        orders.into_iter().for_each(|order| workers.ask(order));
    }
    true
}
