//! The whole way: candidates, windows, weights, the honest score, and the members fitted to everything.

use std::sync::{Arc, Mutex, PoisonError};

use foretell::own_estimator::{Moment, Trained};
use foretell::{EstimatorError, Panel};

use crate::beside::each_member;
use crate::board::{AUTO, BASELINE, Board, BoardRow};
use crate::budget::{Budget, Clock};
use crate::candidates::{Kind, candidates, fewest_steps, is_of_demand, spec_of};
use crate::caveats::{ended, rarely_sold, too_narrow};
use crate::chosen::{Chosen, ChosenMember};
use crate::error::AutoError;
use crate::gathered::{Gathered, gathered};
use crate::grid::{MEDIAN, WIDTH, pinball};
use crate::loss::Case;
use crate::member::{Context, Member};
use crate::mix::Mix;
use crate::rehearse::{Tried, rehearse_local};
use crate::settings::Settings;
use crate::stage::Stage;
use crate::tails::Tails;
use crate::traits::PanelTraits;
use crate::wanted::Wanted;
use crate::weights::Rehearsal;
use crate::windows::WindowPlan;

/// What was chosen, and the members with what they have learned.
pub(crate) type Choice = (Chosen, Vec<Arc<dyn Trained>>);

/// Most series that are scored: weights of a thousand are those of a hundred.
fn most_scored(budget: Budget) -> usize {
    if budget == Budget::Quick { 100 } else { 300 }
}

/// Windows that weights are chosen by: the more, the fewer series there are.
fn most_windows(budget: Budget, series: usize) -> usize {
    match budget {
        Budget::Quick => 24_usize.div_ceil(series.max(1)).clamp(2, 8),
        Budget::Steps(_) | Budget::Time(_) => 60_usize.div_ceil(series.max(1)).clamp(3, 8),
    }
}

/// The share of the time that models which learn in a moment may take where networks are to be trained, too.
const LOCAL_SHARE: f64 = 0.6;

/// The share of the time that is planned for: what is left over is for what was not foreseen.
const PLANNED: f64 = 0.9;

/// Trainings of a network: before all windows, and on everything.
const TRAININGS: f64 = 2.0;

/// The most steps of a network's training that bring anything.
const MOST_STEPS: u64 = 1000;

/// Models that are good as a rule, for series that are too short to score anything.
const GOOD_AS_A_RULE: [&str; 3] = ["FLAIR", "AutoARIMA", "DynamicOptimizedTheta"];

/// Candidates on windows, the weights that these choose, the score of the window that chose nothing, the weights that all windows choose,
/// and the members of what is combined fitted to the whole panel.
pub(crate) fn choose(
    settings: &Settings,
    panel: &Panel,
    context: &Context<'_>,
) -> Result<Choice, EstimatorError> {
    let clock = Clock::start(settings.budget);
    let h = settings.h;
    let traits = PanelTraits::of(panel, h, &settings.seasons, settings.futr.len());
    let season = traits.season();
    let mut board = Board { seasons: traits.seasons.clone(), series: panel.n_series(), ..Board::default() };

    // The windows, of some series evenly spread over the panel.
    let most = most_scored(settings.budget);
    let places: Vec<usize> = match panel.n_series() {
        n if n > most => (0..most).map(|i| i * n / most).collect(),
        n => (0..n).collect(),
    };
    let scored = panel.of_places(&places);
    let typical = crate::season::typical_len(&scored);
    let plan = WindowPlan::new(typical, h, season, most_windows(settings.budget, scored.n_series()));
    // The newest, the kept one, then the older ones, as time allows.
    let mut ahead: Vec<usize> = plan.chosen_by.iter().take(1).copied().collect();
    ahead.extend(plan.kept);
    for &more in plan.forecast_by.iter().chain(&plan.chosen_by) {
        if !ahead.contains(&more) {
            ahead.push(more);
        }
    }
    let kept = plan.kept.map(|_| 1);
    let first = ahead.len().min(1 + usize::from(kept.is_some()));
    let stages: Vec<Stage> =
        ahead.iter().map(|&ahead| Stage::new(&scored, ahead, h, season, settings)).collect();

    // The candidates, the baseline first.
    let mut tried = tried(settings, &traits, stages.len(), &mut board)?;
    let networks = tried.iter().filter(|tried| tried.member.kind == Kind::Network).count();
    let share = if networks > 0 { LOCAL_SHARE } else { PLANNED };
    let series = panel.n_series();
    let mut reached = rehearse_local(&mut tried, &stages, (0, first), series, (&clock, share), context);
    let owed: f64 = tried
        .iter()
        .filter(|tried| tried.dropped.is_none())
        .map(|tried| tried.last * panel.n_series() as f64 / scored.n_series().max(1) as f64)
        .sum();
    train_networks(&mut tried, &stages[..reached], panel, (&clock, owed, networks), context);
    // Time that no network took is for further windows.
    let is_trained = |tried: &Tried| tried.member.kind == Kind::Network && tried.dropped.is_none();
    if networks > 0 && !tried.iter().any(is_trained) {
        reached = rehearse_local(&mut tried, &stages, (reached, first), series, (&clock, PLANNED), context);
    }
    board.left_out.extend(
        tried.iter().filter_map(|tried| Some((tried.member.spec.alias().to_owned(), tried.dropped.clone()?))),
    );
    let tried: Vec<Tried> = tried.into_iter().filter(|tried| tried.dropped.is_none()).collect();

    // What they would have forecast, of the cases that choose and of those that only score.
    let places_of = |windows: &[usize]| -> Vec<usize> {
        (0..reached).filter(|&place| windows.contains(&ahead[place])).collect()
    };
    let choosing = places_of(&plan.chosen_by);
    let scoring: Vec<usize> = match kept {
        Some(kept) if kept < reached => vec![kept],
        _ => choosing.clone(),
    };
    let (chosen_by, spreads, refused) = gathered(&tried, &stages, &choosing, None);
    let (scored_by, _, refused_last) = gathered(&tried, &stages, &scoring, Some(&spreads));
    let scored_mix = mix(settings, &tried, &chosen_by);
    board.windows = choosing.len();
    board.is_honest = scoring != choosing && !scored_by.cases.is_empty();
    board.scored_series = distinct(&scored_by.cases);
    // What is scored was chosen without the kept window. The forecast's weights are chosen by it as well: the newest windows tell most.
    let (mix, spreads, tails) = match board.is_honest {
        true => {
            let (all, spreads, _) = gathered(&tried, &stages, &places_of(&plan.forecast_by), None);
            let mix = mix(settings, &tried, &all);
            let tails = tails(&mix, &all, h);
            (mix, spreads, tails)
        }
        false => (scored_mix.clone(), spreads, tails(&scored_mix, &chosen_by, h)),
    };
    board.rows = rows(&tried, &scored_mix, &mix, &scored_by, h);
    let refused: usize = refused.iter().zip(&refused_last).map(|(a, b)| a + b).sum();
    if refused > 0 {
        let were = if refused == 1 {
            "forecast of the windows that no history could justify was"
        } else {
            "forecasts of the windows that no history could justify were"
        };
        board.told.push(format!("{refused} {were} replaced by those of the next model"));
    }

    board.told.extend(ended(panel, season));
    // The members that have a weight, the baseline, and one that knows the mean of rare demand, on everything.
    let (mut members, mut learned, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let rare = traits.rare;
    let knows_mean = |place: &&usize| is_of_demand(tried[**place].member.spec.name());
    let best_mean = mix.order.iter().find(knows_mean).filter(|_| rare > 0);
    let weighed: Vec<usize> = (0..tried.len())
        .filter(|place| *place == 0 || mix.weight(*place) != 0.0 || Some(place) == best_mean)
        .collect();
    let weighed_members: Vec<&Member> = weighed.iter().map(|&place| &tried[place].member).collect();
    for (place, (fitted, seconds)) in weighed.into_iter().zip(fit_at_last(&weighed_members, panel, context)) {
        let tried = &tried[place];
        if let Some(row) = board.rows.iter_mut().find(|row| row.model == tried.member.spec.alias()) {
            row.seconds += seconds;
        }
        match fitted {
            Ok(Some(trained)) => {
                if let Some(outcome) = trained.outcome() {
                    board.steps.push((tried.member.spec.alias().to_owned(), outcome.steps));
                }
                learned.push(Arc::from(trained));
                places.push(place);
                let rows = (tried.member.rows < usize::MAX).then_some(tried.member.rows);
                members.push(ChosenMember {
                    spec: tried.member.spec.clone(),
                    rows,
                    spread: spreads[place].clone(),
                });
            }
            Ok(None) => {
                board
                    .left_out
                    .push((tried.member.spec.alias().to_owned(), "stopped before its last fit".to_owned()));
            }
            Err(error) => board.left_out.push((tried.member.spec.alias().to_owned(), error.to_string())),
        }
    }
    // Of the models that are there: one may have failed at last.
    let means_of: Vec<&str> =
        places.iter().filter(knows_mean).map(|&place| tried[place].member.spec.alias()).collect();
    board.rare_means = if means_of.is_empty() { 0 } else { rare };
    board.told.extend(rarely_sold(rare, panel, &means_of));
    board.told.extend(too_narrow(&board, &scored_by));
    let mix = only(&mix, &places);
    Ok((Chosen { members, mix, tails, season, below_zero: settings.below_zero, board }, learned))
}

/// The members of an earlier choice, fitted to another panel.
pub(crate) fn fit_again(
    chosen: &Chosen,
    panel: &Panel,
    context: &Context<'_>,
) -> Result<Choice, EstimatorError> {
    let (mut learned, mut kept) = (Vec::new(), Vec::new());
    let members: Vec<Member> = chosen.members.iter().map(ChosenMember::member).collect();
    let fitted = fit_at_last(&members.iter().collect::<Vec<_>>(), panel, context);
    for (place, (fitted, _)) in fitted.into_iter().enumerate() {
        if let Some(trained) = fitted? {
            learned.push(Arc::from(trained));
            kept.push(place);
        }
    }
    let members = kept.iter().map(|&place| chosen.members[place].clone()).collect();
    Ok((Chosen { members, mix: only(&chosen.mix, &kept), ..chosen.clone() }, learned))
}

/// How the members are combined by what they would have forecast.
fn mix(settings: &Settings, tried: &[Tried], by: &Gathered) -> Mix {
    match by.cases.is_empty() {
        true => as_a_rule(tried),
        false => Rehearsal {
            cases: &by.cases,
            forecasts: &by.forecasts,
            criterion: settings.criterion,
            baseline: 0,
            favoured: (0..tried.len())
                .filter(|&place| GOOD_AS_A_RULE[..2].contains(&tried[place].member.spec.name()))
                .collect(),
            best_alone: !settings.ensemble,
        }
        .mix(),
    }
}

/// A member that was fitted, and its seconds.
type FittedMember = (Result<Option<Box<dyn Trained>>, EstimatorError>, f64);

/// Fitted to everything, even if the work was stopped: there would be no forecast without it. A network that was stopped is none.
fn fit_at_last(members: &[&Member], panel: &Panel, context: &Context<'_>) -> Vec<FittedMember> {
    let fit = |member: &Member, context: &Context<'_>| {
        let begun = Moment::now();
        let fitted = match member.kind {
            Kind::Network => member.fit(panel, context),
            Kind::Local => member.fit(panel, &Context { is_stopped: &|| false, ..*context }),
        };
        (fitted, begun.elapsed().as_secs_f64())
    };
    // The training of a network keeps all threads at work.
    match members.iter().any(|member| member.kind == Kind::Network) {
        true => members.iter().map(|&member| fit(member, context)).collect(),
        false => {
            each_member((members.len(), panel.n_series()), context, |i, context| fit(members[i], context))
        }
    }
}

/// The candidates, or the models that are named, the baseline first. What cannot be one is left out, or refused where it was named.
fn tried(
    settings: &Settings,
    traits: &PanelTraits,
    windows: usize,
    board: &mut Board,
) -> Result<Vec<Tried>, EstimatorError> {
    let found = candidates(traits, settings.budget);
    let mut models = vec![Wanted::Named(BASELINE.to_owned())];
    match &settings.models {
        Some(wanted) => {
            // A seasonal naive with hyper-parameters of its own has another alias; it is tried in addition to the usual one.
            let is_baseline =
                |model: &&Wanted| matches!(model, Wanted::Named(name) if name.eq_ignore_ascii_case(BASELINE));
            models.extend(wanted.iter().filter(|model| !is_baseline(model)).cloned())
        }
        None => {
            let is_other = |name: &&str| *name != BASELINE;
            let is_tried = found.iter().filter(|model| model.is_tried).map(|model| model.model);
            models.extend(is_tried.filter(is_other).map(|name| Wanted::Named(name.to_owned())));
            // Those that a larger budget would try; the others do not suit the panel.
            let with_time = candidates(traits, Budget::Steps(1));
            let not = found.iter().zip(with_time).filter(|(now, then)| !now.is_tried && then.is_tried);
            board.left_out.extend(not.map(|(now, _)| (now.model.to_owned(), now.why.clone())));
        }
    }
    let columns = settings.columns();
    let steps = match settings.budget {
        Budget::Steps(steps) => steps,
        Budget::Quick | Budget::Time(_) => MOST_STEPS / 2,
    };
    let mut all = Vec::with_capacity(models.len());
    for model in models {
        let name = match model {
            Wanted::Named(name) => name,
            Wanted::Given(spec) => {
                all.push(Tried::new(Member::whole(spec), windows));
                continue;
            }
        };
        match spec_of(&name, traits, steps, &columns) {
            Ok((spec, rows)) => all.push(Tried::new(Member { rows, ..Member::whole(spec) }, windows)),
            Err(reason) if settings.models.is_some() => return Err(AutoError::Member { name, reason }.into()),
            Err(reason) => board.left_out.push((name, reason)),
        }
    }
    Ok(all)
}

/// Trains networks for as many steps as there is time for.
fn train_networks(
    tried: &mut [Tried],
    stages: &[Stage],
    panel: &Panel,
    (clock, owed, networks): (&Clock, f64, usize),
    context: &Context<'_>,
) {
    // A network that is still trained when the time is over is left out.
    let is_over = || (context.is_stopped)() || clock.left().is_some_and(|left| left < 0.0);
    let context = &Context { is_stopped: &is_over, ..*context };
    let mut waiting = networks as f64;
    for tried in
        tried.iter_mut().filter(|tried| tried.member.kind == Kind::Network && tried.dropped.is_none())
    {
        if (context.is_stopped)() {
            tried.dropped = Some("stopped".to_owned());
            continue;
        }
        if let Some(left) = clock.left() {
            let all = PLANNED * left - 1.2 * owed;
            // The first is what helps most as a rule: of two it has two thirds.
            let share = all * (2.0 / (waiting + 1.0));
            waiting -= 1.0;
            if share <= 0.0 {
                tried.dropped = Some("the budget was spent before it".to_owned());
                continue;
            }
            // What finding out costs is not to be more than a part of its share.
            let most = share / 8.0;
            let pace = pace(&tried.member, panel, stages, most, context);
            let steps_in = |given: f64| {
                pace.map_or(0.0, |[first, each]| ((given - most) / TRAININGS - first) / each.max(1e-6))
            };
            let fewest = fewest_steps(tried.member.spec.name()) as f64;
            // Where shares are too small for any network, the first has what the others would have been given.
            let steps = match steps_in(share) {
                steps if steps < fewest => steps_in(all).min(fewest),
                steps => steps,
            };
            let steps = steps.min(MOST_STEPS as f64);
            if !steps.is_finite() || steps < fewest {
                let steps = steps.max(0.0);
                tried.dropped = Some(format!("the budget allows {steps:.0} steps of its training"));
                continue;
            }
            // Whole tens: a number that can be asked for.
            let steps = steps as u64 / 10 * 10;
            match tried.member.spec.clone().set("max_steps", steps) {
                Ok(spec) => tried.member.spec = spec,
                Err(error) => tried.dropped = Some(error.to_string()),
            }
        }
        if tried.dropped.is_none() {
            tried.run_once(stages, panel, context);
        }
    }
}

/// Seconds until a network's training has taken its first step, and those of a further one, from a few of them.
fn pace(
    member: &Member,
    panel: &Panel,
    stages: &[Stage],
    most: f64,
    context: &Context<'_>,
) -> Option<[f64; 2]> {
    const FEW: u64 = 12;
    let spec = member.spec.clone().set("max_steps", FEW).ok()?;
    let oldest = stages.iter().map(|stage| stage.ahead).max().unwrap_or(0);
    // Steps are listened to, each of which may be the last.
    let (begun, taken) = (Moment::now(), Mutex::new(Vec::new()));
    let is_stopped = || {
        let seconds = begun.elapsed().as_secs_f64();
        taken.lock().unwrap_or_else(PoisonError::into_inner).push(seconds);
        (context.is_stopped)() || seconds > most
    };
    let few = Member { spec, ..member.clone() };
    few.fit(&panel.without_last(oldest), &Context { is_stopped: &is_stopped, ..*context }).ok()?;
    let taken = taken.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (first, last) = (*taken.first()?, *taken.last()?);
    let each = if taken.len() > 1 { (last - first) / (taken.len() - 1) as f64 } else { first };
    Some([first, each])
}

/// Equal weights of the models that are good as a rule.
fn as_a_rule(tried: &[Tried]) -> Mix {
    let rank = |tried: &Tried| GOOD_AS_A_RULE.iter().position(|name| *name == tried.member.spec.name());
    let mut order: Vec<usize> = (0..tried.len()).collect();
    order.sort_by_key(|&place| (rank(&tried[place]).unwrap_or(usize::MAX), place));
    let good: Vec<usize> =
        order.iter().copied().filter(|&place| rank(&tried[place]).is_some()).take(2).collect();
    let good = if good.is_empty() { order.iter().copied().take(2).collect() } else { good };
    let mut weights = vec![0.0; tried.len()];
    good.iter().for_each(|&place| weights[place] = 1.0 / good.len() as f64);
    Mix { weights, groups: Vec::new(), order, width: 1.0 }
}

/// How many series these cases are of.
fn distinct(cases: &[Case]) -> usize {
    let mut series: Vec<usize> = cases.iter().map(|case| case.series).collect();
    series.sort_unstable();
    series.dedup();
    series.len()
}

/// What these cases would have been forecast as.
fn combined<'a>(
    mix: &'a Mix,
    gathered: &'a Gathered,
    h: usize,
) -> impl Iterator<Item = (&'a Case, Vec<f32>)> {
    gathered.cases.iter().enumerate().map(move |(case, known)| {
        let members: Vec<Option<&[f32]>> =
            gathered.forecasts.iter().map(|forecasts| Some(&forecasts[case][..])).collect();
        (known, mix.combined(&known.history, h, &members).0)
    })
}

/// How far the values of these cases lay outside of what is combined.
fn tails(mix: &Mix, gathered: &Gathered, h: usize) -> Tails {
    Tails::of(combined(mix, gathered, h))
}

/// The rows of the board: what is combined, then the members from the best to the worst; the scores of one mix, the weights of the one that
/// forecasts.
fn rows(tried: &[Tried], scored_mix: &Mix, mix: &Mix, scored: &Gathered, h: usize) -> Vec<BoardRow> {
    let combined: Vec<Vec<f32>> = combined(scored_mix, scored, h).map(|(_, values)| values).collect();
    let weight = |member: usize| match scored.cases.len() {
        0 => mix.weights[member],
        n => {
            let of = |case: &Case| mix.weights_of(case.history.group)[member];
            scored.cases.iter().map(of).sum::<f64>() / n as f64
        }
    };
    let row = |model: &str, forecasts: &[Vec<f32>], seconds: f64, weight: f64| {
        let [mase, scaled_crps, coverage] = scores(&scored.cases, forecasts);
        BoardRow { model: model.to_owned(), mase, scaled_crps, coverage, seconds, weight }
    };
    let seconds = tried.iter().map(|tried| tried.seconds).sum();
    let mut members: Vec<BoardRow> = tried
        .iter()
        .enumerate()
        .map(|(member, tried)| {
            row(tried.member.spec.alias(), &scored.forecasts[member], tried.seconds, weight(member))
        })
        .collect();
    members.sort_by(|a, b| (a.mase + a.scaled_crps).total_cmp(&(b.mase + b.scaled_crps)));
    std::iter::once(row(AUTO, &combined, seconds, 1.0)).chain(members).collect()
}

/// MASE, scaled CRPS and the coverage of the inner 80 %, means over series; NaN without cases.
fn scores(cases: &[Case], forecasts: &[Vec<f32>]) -> [f64; 3] {
    let n = distinct(cases).max(1);
    let mut by_series: std::collections::BTreeMap<usize, [f64; 4]> = std::collections::BTreeMap::new();
    for (case, values) in cases.iter().zip(forecasts) {
        let sums = by_series.entry(case.series).or_default();
        for (step, &y) in values.chunks_exact(WIDTH).zip(&case.y).filter(|(_, y)| !y.is_nan()) {
            sums[0] += f64::from(y - step[MEDIAN]).abs() / case.history.scale;
            sums[1] += pinball(step, f64::from(y)) / case.history.scale;
            sums[2] += f64::from(u8::from(step[0] <= y && y <= step[WIDTH - 1]));
            sums[3] += 1.0;
        }
    }
    if by_series.is_empty() {
        return [f64::NAN; 3];
    }
    let mean =
        |which: usize| by_series.values().map(|sums| sums[which] / sums[3].max(1.0)).sum::<f64>() / n as f64;
    [mean(0), mean(1), mean(2)]
}

/// The same of some of the members alone.
fn only(mix: &Mix, places: &[usize]) -> Mix {
    let of = |weights: &[f64]| -> Vec<f64> {
        let some: Vec<f64> = places.iter().map(|&place| weights[place]).collect();
        let all: f64 = some.iter().sum();
        if all > 0.0 { some.iter().map(|weight| weight / all).collect() } else { some }
    };
    let order = mix.order.iter().filter_map(|place| places.iter().position(|own| own == place)).collect();
    Mix {
        weights: of(&mix.weights),
        groups: mix.groups.iter().map(|(group, weights)| (*group, of(weights))).collect(),
        order,
        width: mix.width,
    }
}
