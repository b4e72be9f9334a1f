//! The thread that reads the checkpoints, and reads them again when something changed.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::{Duration, Instant};

use super::main_loop::Event;
use super::place::{Place, in_words};
use super::timeline::Row;
use super::work::{Order, Report};
use crate::ops::restore::interrupted;
use crate::ops::{self, Context, Error, ListRequest};

/// So many are read first: more than a screen shows.
const FIRST: u64 = 300;
/// Time between two looks at whether something changed.
const PACE: Duration = Duration::from_millis(300);
/// Time between two looks at whether the worktree still equals a checkpoint, and how long a look may take to be taken unasked.
const LOOK_PACE: Duration = Duration::from_secs(5);
const SHORT_LOOK: Duration = Duration::from_millis(150);
/// So long changes are counted before it is looked whether there is something else to do.
const COUNTING: Duration = Duration::from_millis(100);

/// Reads the checkpoints of a place.
pub(super) struct Watcher {
    place: Place,
    orders: Receiver<Order>,
    reports: Sender<Event>,
    all_worktrees: bool,
    /// Nothing was read yet.
    is_first: bool,
    trouble: Option<String>,
    looked_at: Instant,
    look_took: Duration,
}

/// Why the watch ended.
enum Stop {
    /// The screen has closed.
    Closed,
    /// Something failed, and may be mended.
    Failed(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(in_words(&error))
    }
}

impl Watcher {
    pub(super) fn new(place: Place, orders: Receiver<Order>, reports: Sender<Event>) -> Watcher {
        Watcher {
            place,
            orders,
            reports,
            all_worktrees: false,
            is_first: true,
            trouble: None,
            looked_at: Instant::now(),
            look_took: Duration::ZERO,
        }
    }

    /// Goes on until the screen closes; begins with `context`.
    pub(super) fn run(mut self, context: Context) {
        let mut context = Some(context);
        loop {
            let stop = match &mut context {
                Some(context) => match self.serve(context) {
                    Ok(never) => match never {},
                    Err(stop) => stop,
                },
                None => match self.pause() {
                    Ok(()) => match self.place.open() {
                        Ok(opened) => {
                            context = Some(opened);
                            continue;
                        }
                        Err(trouble) => Stop::Failed(trouble),
                    },
                    Err(stop) => stop,
                },
            };
            let told = match stop {
                Stop::Closed => return,
                Stop::Failed(trouble) => self.set_trouble(Some(trouble)),
            };
            if told.is_err() {
                return;
            }
            context = None;
        }
    }

    fn tell(&self, report: Report) -> Result<(), Stop> {
        self.reports.send(Event::Report(report)).map_err(|_| Stop::Closed)
    }

    fn set_trouble(&mut self, trouble: Option<String>) -> Result<(), Stop> {
        if self.trouble == trouble {
            return Ok(());
        }
        self.trouble.clone_from(&trouble);
        self.tell(Report::Trouble(trouble))
    }

    /// Waits a little, or until something is asked for.
    fn pause(&mut self) -> Result<(), Stop> {
        match self.orders.recv_timeout(PACE) {
            Ok(order) => {
                self.obey(&order);
                Ok(())
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(Stop::Closed),
        }
    }

    fn obey(&mut self, order: &Order) {
        if let Order::Read { all_worktrees } = order {
            self.all_worktrees = *all_worktrees;
        }
    }

    /// Reads again and again, as long as all is well.
    fn serve(&mut self, context: &mut Context) -> Result<Infallible, Stop> {
        loop {
            let mark = context.store.change_mark().map_err(Error::from)?;
            self.read(context)?;
            self.wait_for_a_change(context, mark)?;
        }
    }

    fn read(&mut self, context: &mut Context) -> Result<(), Stop> {
        if std::mem::take(&mut self.is_first) {
            self.send_timeline(context, Some(FIRST))?;
        }
        self.send_timeline(context, None)?;
        let trouble = interrupted(&context.repo)?;
        self.set_trouble(trouble.map(|blocker| format!("{}: {}", blocker.message, blocker.hint)))?;
        self.look(context)
    }

    fn send_timeline(&self, context: &Context, limit: Option<u64>) -> Result<(), Stop> {
        let request = ListRequest { all_worktrees: self.all_worktrees, limit, ..ListRequest::default() };
        let rows: Vec<Row> = ops::timeline(context, &request)?.into_iter().map(Row::from).collect();
        let is_whole = limit.is_none_or(|limit| (rows.len() as u64) < limit);
        self.tell(Report::Timeline { rows, all_worktrees: self.all_worktrees, is_whole })
    }

    fn look(&mut self, context: &Context) -> Result<(), Stop> {
        let start = Instant::now();
        let current = ops::current(context);
        (self.looked_at, self.look_took) = (Instant::now(), start.elapsed());
        self.tell(Report::Current(current))
    }

    fn wait_for_a_change(&mut self, context: &mut Context, mark: i64) -> Result<(), Stop> {
        let mut is_counting = true;
        loop {
            if is_counting {
                let counted = ops::count_some(context, COUNTING)?;
                is_counting = !counted.is_empty();
                if is_counting {
                    self.tell(Report::Counted(counted))?;
                }
                match self.orders.try_recv() {
                    Ok(order) => {
                        self.obey(&order);
                        return Ok(());
                    }
                    Err(TryRecvError::Empty) => continue,
                    Err(TryRecvError::Disconnected) => return Err(Stop::Closed),
                }
            }
            match self.orders.recv_timeout(PACE) {
                Ok(order) => {
                    self.obey(&order);
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::Closed),
            }
            self.place.check().map_err(Stop::Failed)?;
            if context.store.change_mark().map_err(Error::from)? != mark {
                return Ok(());
            }
            if self.looked_at.elapsed() >= LOOK_PACE && self.look_took <= SHORT_LOOK {
                self.look(context)?;
            }
        }
    }
}
