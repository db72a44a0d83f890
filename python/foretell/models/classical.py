"""Classical models, FLAIR, Prophet and Foretell0: each series by itself.

Written by python/write_models.py: change that and run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretell._model import LocalModel


class Naive(LocalModel):
    """Naive (Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class SeasonalNaive(LocalModel):
    """SeasonalNaive (Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class HistoricAverage(LocalModel):
    """HistoricAverage (Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class WindowAverage(LocalModel):
    """WindowAverage (Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2).

    Args:
        h: Steps to forecast.
        window_size: Steps of the average; None for the usual season of the data's frequency.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, window_size: int | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class SeasonalWindowAverage(LocalModel):
    """SeasonalWindowAverage (Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        window_size: Seasons of the average.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, window_size: int | None = 2,
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class RandomWalkWithDrift(LocalModel):
    """RandomWalkWithDrift (Hyndman and Athanasopoulos 2021, Forecasting: Principles and Practice, section 5.2).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class AutoETS(LocalModel):
    """AutoETS (Hyndman, Koehler, Ord and Snyder 2008, Forecasting with Exponential Smoothing).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        model: Error, trend and season, a letter each: added (A), multiplied (M), none (N), or chosen by the series
            (Z).
        damped: Whether the trend fades; None to choose by the series.
        phi: Factor by which a damped trend fades at each step; None to estimate it.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, model: str = "ZZZ",
        damped: bool | None = None, phi: float | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class ETS(LocalModel):
    """ETS (Hyndman, Koehler, Ord and Snyder 2008, Forecasting with Exponential Smoothing).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        model: Error, trend and season, a letter each: added (A), multiplied (M), none (N), or chosen by the series
            (Z).
        damped: Whether the trend fades; None to choose by the series.
        phi: Factor by which a damped trend fades at each step; None to estimate it.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, model: str = "ANN",
        damped: bool | None = None, phi: float | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class Holt(LocalModel):
    """Holt (Hyndman, Koehler, Ord and Snyder 2008, Forecasting with Exponential Smoothing).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        model: Error, trend and season, a letter each: added (A), multiplied (M), none (N), or chosen by the series
            (Z).
        damped: Whether the trend fades; None to choose by the series.
        phi: Factor by which a damped trend fades at each step; None to estimate it.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, model: str = "AAN",
        damped: bool | None = None, phi: float | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class HoltWinters(LocalModel):
    """HoltWinters (Hyndman, Koehler, Ord and Snyder 2008, Forecasting with Exponential Smoothing).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        model: Error, trend and season, a letter each: added (A), multiplied (M), none (N), or chosen by the series
            (Z).
        damped: Whether the trend fades; None to choose by the series.
        phi: Factor by which a damped trend fades at each step; None to estimate it.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, model: str = "AAA",
        damped: bool | None = None, phi: float | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class AutoARIMA(LocalModel, reads="futr"):
    """AutoARIMA (Hyndman and Khandakar 2008, Automatic Time Series Forecasting: The forecast Package for R).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        d: Differences of one step; None to test for them.
        D: Differences of one season; None to test for them.
        max_p: The most autoregression.
        max_q: The most moving average.
        max_P: The most autoregression of a season.
        max_Q: The most moving average of a season.
        max_d: The most differences that the test may find.
        max_D: The most differences of a season that the test may find.
        start_p: The autoregression that the search starts from.
        start_q: The moving average that the search starts from.
        start_P: The autoregression of a season that the search starts from.
        start_Q: The moving average of a season that the search starts from.
        stationary: Whether there are no differences at all.
        seasonal: Whether there may be terms of a season.
        allowmean: Whether values without differences may have a level.
        allowdrift: Whether single differences may have a mean.
        ic: The criterion that models are compared by.
        nmodels: Models that are tried at most, for each series.
        futr_exog_list: Columns known in advance that values depend on, each by a slope; the model is of what they
            leave.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, d: int | None = None, D: int | None = None,
        max_p: int = 5, max_q: int = 5, max_P: int = 2, max_Q: int = 2, max_d: int = 2, max_D: int = 1,
        start_p: int = 2, start_q: int = 2, start_P: int = 1, start_Q: int = 1, stationary: bool = False,
        seasonal: bool = True, allowmean: bool = True, allowdrift: bool = True, ic: str = "aicc", nmodels: int = 94,
        futr_exog_list: Sequence[str] | None = [], alias: str | None = None,
    ) -> None:
        self._take(locals())


class ARIMA(LocalModel, reads="futr"):
    """ARIMA (Hyndman and Khandakar 2008, Automatic Time Series Forecasting: The forecast Package for R).

    Args:
        h: Steps to forecast.
        order: Autoregression, differences and moving average.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        seasonal_order: Autoregression, differences and moving average of a season.
        include_mean: Whether values without differences have a level.
        include_drift: Whether single differences have a mean.
        futr_exog_list: Columns known in advance that values depend on, each by a slope; the model is of what they
            leave.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, order: Sequence[int] = [0, 0, 0], season_length: int | Sequence[int] | None = None,
        seasonal_order: Sequence[int] = [0, 0, 0], include_mean: bool = True, include_drift: bool = False,
        futr_exog_list: Sequence[str] | None = [], alias: str | None = None,
    ) -> None:
        self._take(locals())


class AutoCES(LocalModel):
    """AutoCES (Svetunkov, Kourentzes and Ord 2022, Complex exponential smoothing).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        model: The form: N without a season, S, P or F with a simple, partial or full one, Z for the best of these.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, model: str = "Z", alias: str | None = None,
    ) -> None:
        self._take(locals())


class MSTL(LocalModel):
    """MSTL (Bandara, Hyndman and Bergmeir 2021, MSTL: A Seasonal-Trend Decomposition Algorithm for Time Series with Multiple Seasonal Patterns).

    Args:
        h: Steps to forecast.
        season_length: Steps of the seasons, such as [24, 168], or of the only one; None for the usual one of the
            data's frequency.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class MFLES(LocalModel):
    """MFLES (Blume 2023, MFLES: gradient boosted time series decomposition (the package mfles)).

    Args:
        h: Steps to forecast.
        season_length: Steps of the seasons, such as [24, 168], or of the only one; None for the usual one of the
            data's frequency, 1 for none.
        fourier_order: Pairs of sine and cosine of a season; None for 5, 10 or 15 by its length.
        max_rounds: Rounds of the boosting at most.
        ma: Values before each one in the moving means of what is left.
        alpha: The penalty on the weights of a broken line.
        decay: The share by which a broken line falls short of the last value behind a bend; -1 to find it by the
            bend's size.
        changepoints: Whether the trend may be a broken line.
        n_changepoints: The bends of a broken line, or below 1 their share of the values; a tenth of the values at
            most.
        seasonal_lr: The share of a season that is kept in a round.
        trend_lr: The share of a broken line that is kept in a round.
        residuals_lr: The share of a smoothing that is kept in a round.
        cov_threshold: How much values may vary around the season before the line is that of repeated medians; -1 for
            as much as they like.
        moving_medians: Whether the first median is that of each season.
        min_alpha: The least parameter of the exponential smoothings.
        max_alpha: The limit of these parameters.
        trend_penalty: Whether the slope is reduced to the share of the variance that the first line explains.
        multiplicative: Whether logarithms are forecast; None for series with a season and only positive values.
        smoother: Whether what is left is smoothed exponentially, not by moving means.
        robust: Whether the trend is the line of repeated medians; None for series that vary much.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, fourier_order: int | None = None,
        max_rounds: int = 50, ma: int = 1, alpha: float = 1.0, decay: float = -1.0, changepoints: bool = True,
        n_changepoints: float = 0.25, seasonal_lr: float = 0.9, trend_lr: float = 0.9, residuals_lr: float = 1.0,
        cov_threshold: float = 0.7, moving_medians: bool = False, min_alpha: float = 0.05, max_alpha: float = 1.0,
        trend_penalty: bool = True, multiplicative: bool | None = None, smoother: bool = False,
        robust: bool | None = None, alias: str | None = None,
    ) -> None:
        self._take(locals())


class AutoTheta(LocalModel):
    """AutoTheta (Fiorucci et al. 2016, Models for optimising the theta method).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        decomposition_type: How the season is part of the values: multiplicative, or additive.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, decomposition_type: str = "multiplicative",
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class Theta(LocalModel):
    """Theta (Assimakopoulos and Nikolopoulos 2000, The theta model).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        decomposition_type: How the season is part of the values: multiplicative, or additive.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, decomposition_type: str = "multiplicative",
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class OptimizedTheta(LocalModel):
    """OptimizedTheta (Fiorucci et al. 2016, Models for optimising the theta method).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        decomposition_type: How the season is part of the values: multiplicative, or additive.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, decomposition_type: str = "multiplicative",
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class DynamicTheta(LocalModel):
    """DynamicTheta (Fiorucci et al. 2016, Models for optimising the theta method).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        decomposition_type: How the season is part of the values: multiplicative, or additive.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, decomposition_type: str = "multiplicative",
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class DynamicOptimizedTheta(LocalModel):
    """DynamicOptimizedTheta (Fiorucci et al. 2016, Models for optimising the theta method).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season; None for the usual one of the data's frequency.
        decomposition_type: How the season is part of the values: multiplicative, or additive.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, decomposition_type: str = "multiplicative",
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class CrostonClassic(LocalModel):
    """CrostonClassic (Croston 1972, Forecasting and Stock Control for Intermittent Demands).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class CrostonOptimized(LocalModel):
    """CrostonOptimized (Croston 1972, Forecasting and Stock Control for Intermittent Demands).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class CrostonSBA(LocalModel):
    """CrostonSBA (Syntetos and Boylan 2005, The accuracy of intermittent demand estimates).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class ADIDA(LocalModel):
    """ADIDA (Nikolopoulos et al. 2011, An aggregate-disaggregate intermittent demand approach).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class IMAPA(LocalModel):
    """IMAPA (Petropoulos and Kourentzes 2015, Forecast combinations for intermittent demand).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alias: str | None = None,
    ) -> None:
        self._take(locals())


class TSB(LocalModel):
    """TSB (Teunter, Syntetos and Babai 2011, Intermittent demand: Linking forecasting to inventory obsolescence).

    Args:
        h: Steps to forecast.
        alpha_d: The parameter that sizes of demands are smoothed by.
        alpha_p: The parameter that the probability of a demand is smoothed by.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, alpha_d: float = 0.1, alpha_p: float = 0.1, alias: str | None = None,
    ) -> None:
        self._take(locals())


class FLAIR(LocalModel, reads="futr"):
    """FLAIR (Honda 2026, Don't Learn the Shape: Forecasting Periodic Time Series by Rank-1 Decomposition).

    Args:
        h: Steps to forecast.
        season_length: Steps of a season, or a list such as [24, 168] of which each series has the one that explains
            it best, or none; None for those of the calendar.
        futr_exog_list: Columns known in advance that the level depends on.
        n_samples: Paths of each forecast: the point forecast is their median, quantiles are theirs.
        random_seed: What the paths are drawn by.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, season_length: int | Sequence[int] | None = None, futr_exog_list: Sequence[str] | None = [],
        n_samples: int = 400, random_seed: int = 1, alias: str | None = None,
    ) -> None:
        self._take(locals())


class Prophet(LocalModel, reads="futr"):
    """Prophet (Taylor and Letham 2018, Forecasting at Scale).

    Args:
        h: Steps to forecast.
        growth: How the trend grows: in straight lines, towards a capacity, or not at all.
        changepoints: Where the rate of growth may change; None for n_changepoints of them.
        n_changepoints: Change points, evenly over the rows; fewer for a series of few rows.
        changepoint_range: The part of the history, from its beginning, that has change points.
        yearly_seasonality: Seasons of a year, of 10 harmonics; auto: if the history spans 730 days.
        weekly_seasonality: Seasons of a week, of 3 harmonics; auto: if the history spans 14 days, in steps below a
            week.
        daily_seasonality: Seasons of a day, of 4 harmonics; auto: if the history spans 2 days, in steps below a day.
        seasonalities: Further seasonalities; one that is called yearly, weekly or daily replaces that.
        holidays: Days with an effect of their own, and the days around them.
        country_holidays: The country whose public holidays, from 1990 to 2050, are added to these.
        seasonality_mode: How seasonalities and regressors enter: added to the trend, or as a part of it.
        holidays_mode: How holidays enter; None for seasonality_mode.
        seasonality_prior_scale: The deviation of the prior of seasonal coefficients.
        holidays_prior_scale: The deviation of the prior of coefficients of holidays and regressors.
        changepoint_prior_scale: The scale of the prior of changes of the rate of growth.
        scaling: Divisor of the values: the largest magnitude, or the distance of the extremes.
        cap: The column of the capacity that logistic growth leads to.
        floor: The column of the value that logistic growth comes from; None for 0.
        futr_exog_list: Columns known in advance that the forecast depends on.
        regressors: How columns of futr_exog_list enter, where that is not usual.
        uncertainty_samples: Simulated futures that quantiles are taken from.
        random_seed: What these are drawn by.
        alias: The name of the model's column in forecasts; None for the model's own.
    """

    def __init__(
        self, h: int, growth: str = "linear", changepoints: Sequence[str] | None = None, n_changepoints: int = 25,
        changepoint_range: float = 0.8, yearly_seasonality: str | bool | int = "auto",
        weekly_seasonality: str | bool | int = "auto", daily_seasonality: str | bool | int = "auto",
        seasonalities: Sequence[dict[str, Any]] = [], holidays: Sequence[dict[str, Any]] = [],
        country_holidays: str | None = None, seasonality_mode: str = "additive", holidays_mode: str | None = None,
        seasonality_prior_scale: float = 10.0, holidays_prior_scale: float = 10.0,
        changepoint_prior_scale: float = 0.05, scaling: str = "absmax", cap: str | None = None,
        floor: str | None = None, futr_exog_list: Sequence[str] | None = [],
        regressors: Sequence[dict[str, Any]] = [], uncertainty_samples: int = 1000, random_seed: int = 1,
        alias: str | None = None,
    ) -> None:
        self._take(locals())


class Foretell0(LocalModel):
    """Foretell0 (a patch transformer of our own, trained on synthetic series; on yours as well where max_steps is set).

    Args:
        h: Steps to forecast.
        alias: The name of the model's column in forecasts; None for the folder's name, or the model's own.
        max_steps: Steps of fine-tuning on the data; 0 for the unchanged weights of the program.
        learning_rate: The highest learning rate of fine-tuning: it rises over a tenth of the steps, and falls to 0.
        batch_size: Series of a step of fine-tuning.
        windows_batch_size: Windows of a step of fine-tuning, drawn from its series.
        early_stop_patience_steps: Checks in a row without a better validation loss after which fine-tuning stops,
            with the weights of the best one; -1 for none.
        val_check_steps: Steps between two checks of the validation loss.
        random_seed: The seed of the draws of series and windows.
    """

    def __init__(
        self, h: int, alias: str | None = None, max_steps: int = 0, learning_rate: float = 0.001,
        batch_size: int = 32, windows_batch_size: int = 32, early_stop_patience_steps: int = -1,
        val_check_steps: int = 100, random_seed: int = 1,
    ) -> None:
        self._take(locals())
