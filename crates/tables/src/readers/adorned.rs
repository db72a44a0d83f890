//! Signs that people write around a number: minus in all its forms, currencies, percent.

/// Spaces that stand between thousands.
pub(super) const SPACES: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\u{2007}'];

pub(super) const APOSTROPHES: [char; 2] = ['\'', '’'];

/// Also the minus sign of typesetters, and the dash that word processors make of a hyphen.
const MINUS: [char; 3] = ['-', '\u{2212}', '\u{2013}'];

/// The names of currencies, each with one that all names of the same currency have in common. Longer names stand before those that they
/// hold.
#[rustfmt::skip]
const CURRENCIES: [(&str, &str); 61] = [
    ("US$", "$"), ("NZ$", "NZD"), ("HK$", "HKD"), ("R$", "BRL"), ("A$", "AUD"), ("C$", "CAD"),
    ("S$", "SGD"), ("$", "$"), ("€", "€"), ("£", "£"), ("¥", "¥"), ("₹", "₹"), ("₽", "₽"), ("₩", "₩"),
    ("₺", "₺"), ("₴", "₴"), ("₦", "₦"), ("₱", "₱"), ("฿", "฿"), ("₪", "₪"), ("₫", "₫"), ("₡", "₡"),
    ("₵", "₵"), ("₸", "₸"), ("¢", "¢"), ("SFr.", "CHF"), ("Fr.", "CHF"), ("kr.", "kr"), ("kr", "kr"),
    ("Kč", "Kč"), ("zł", "zł"), ("Ft", "Ft"), ("lei", "lei"), ("Rs.", "₹"), ("Rs", "₹"), ("EUR", "€"),
    ("USD", "$"), ("GBP", "£"), ("CHF", "CHF"), ("JPY", "¥"), ("CNY", "CNY"), ("SEK", "kr"),
    ("NOK", "NOK"), ("DKK", "DKK"), ("PLN", "zł"), ("CZK", "Kč"), ("HUF", "Ft"), ("RON", "lei"),
    ("CAD", "CAD"), ("AUD", "AUD"), ("NZD", "NZD"), ("INR", "₹"), ("BRL", "BRL"), ("MXN", "MXN"),
    ("ZAR", "ZAR"), ("TRY", "₺"), ("RUB", "₽"), ("KRW", "₩"), ("SGD", "SGD"), ("HKD", "HKD"),
    ("ILS", "₪"),
];

/// Whether a text is a currency and a dash, as spreadsheets show a zero in columns of accounts: ` $-   `, `- €`.
pub(super) fn is_zero_of_accounts(text: &str) -> bool {
    let text = text.trim();
    let beside = |(name, _): &(&str, &str)| text.strip_prefix(*name).or(text.strip_suffix(*name));
    let amount = CURRENCIES.iter().filter(|_| text.len() <= 64).find_map(beside);
    amount.is_some_and(|amount| amount.trim().chars().count() == 1 && amount.trim().starts_with(MINUS))
}

/// A number without the signs around it, and the meaning of the signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Adorned<'a> {
    pub(super) digits: &'a str,
    pub(super) negative: bool,
    pub(super) percent: bool,
    /// The name that all names of its currency have in common.
    pub(super) currency: Option<&'static str>,
}

impl<'a> Adorned<'a> {
    /// Takes the signs off a text, each kind once; nothing if no digit is left or a sign is.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        // Most texts that are no numbers have no digit, and may be long.
        if text.len() > 64 || !text.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let (mut signed, mut negative, mut percent, mut currency) = (false, false, false, None);
        let mut rest = text.trim();
        loop {
            let before = rest;
            if !signed {
                let bracketed = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
                let minus = bracketed.or(rest.strip_prefix(MINUS)).or(rest.strip_suffix(MINUS));
                negative = minus.is_some();
                let sign = minus.or(rest.strip_prefix('+'));
                signed = sign.is_some();
                rest = sign.unwrap_or(rest).trim();
            }
            if !percent {
                let stripped = rest.strip_suffix('%');
                percent = stripped.is_some();
                rest = stripped.unwrap_or(rest).trim();
            }
            if currency.is_none() {
                let around = |&(name, common): &(&str, &'static str)| {
                    let stripped = rest.strip_prefix(name).or(rest.strip_suffix(name))?;
                    Some((stripped, common))
                };
                if let Some((stripped, common)) = CURRENCIES.iter().find_map(around) {
                    (rest, currency) = (stripped.trim(), Some(common));
                }
            }
            if rest == before {
                break;
            }
        }
        let ends = [rest.chars().next()?, rest.chars().next_back()?];
        let bare = ends[1].is_ascii_digit() && (ends[0].is_ascii_digit() || ends[0] == '.' || ends[0] == ',');
        bare.then_some(Self { digits: rest, negative, percent, currency })
    }
}
