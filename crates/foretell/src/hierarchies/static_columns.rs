//! The static columns of a hierarchy's series: labels that make its levels, and what sums have of those of their series.

use std::sync::Arc;

use foretell_data::Panel;
use foretell_hierarchy::Hierarchy;

use crate::error::Error;
use crate::hierarchies::sums::bottom_of;

/// A static column of all series of a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaticOfSums {
    /// Its name.
    pub name: String,
    /// The value of each series, in the order of the hierarchy, as the file has it; nothing for sums of series that differ in it, and where
    /// none is known.
    pub values: Vec<Option<Arc<str>>>,
    /// The ids of sums of series that differ in it.
    pub unlike: Vec<Arc<str>>,
}

/// These static columns of a panel for all series of a hierarchy: a sum has the value that all its series have.
///
/// # Errors
/// A series at the bottom or a column that the panel does not have, or a column that cannot be used.
pub fn statics_of_sums(
    panel: &Panel,
    hierarchy: &Hierarchy,
    columns: &[impl AsRef<str>],
) -> Result<Vec<StaticOfSums>, Error> {
    let bottom = bottom_of(panel, hierarchy)?;
    let column = |name: &str| -> Result<StaticOfSums, Error> {
        let of_series = bottom.iter().map(|&series| panel.static_label(name, series));
        let of_series: Vec<Option<Arc<str>>> = of_series.collect::<Result<_, _>>()?;
        let (mut values, mut unlike) = (Vec::new(), Vec::new());
        for (number, id) in hierarchy.ids().take(hierarchy.n_aggregates()).enumerate() {
            let mut members = hierarchy.members(number).iter().map(|&member| &of_series[member as usize]);
            let first = members.next().and_then(Option::as_ref);
            let alike = members.all(|value| value.as_ref() == first);
            if !alike {
                unlike.push(id.clone());
            }
            values.push(first.filter(|_| alike).cloned());
        }
        values.extend(of_series);
        Ok(StaticOfSums { name: name.to_owned(), values, unlike })
    };
    columns.iter().map(|name| column(name.as_ref())).collect()
}

/// The hierarchy of the static columns of a panel, the widest first: see [`Hierarchy::from_levels`].
///
/// # Errors
/// A column that is missing, or labels that make no hierarchy.
pub fn levels_of(panel: &Panel, levels: &[impl AsRef<str>]) -> Result<Hierarchy, Error> {
    let label = |level: &str, series| -> Result<String, Error> {
        Ok(panel.static_label(level, series)?.map_or_else(String::new, |label| label.to_string()))
    };
    let labels =
        |series| levels.iter().map(|level| label(level.as_ref(), series)).collect::<Result<Vec<_>, _>>();
    let series = (0..panel.n_series()).map(|series| Ok((panel.id(series).to_string(), labels(series)?)));
    Ok(Hierarchy::from_levels(&series.collect::<Result<Vec<_>, Error>>()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_data::ReadOptions;

    #[test]
    fn sums_have_what_all_their_series_have() {
        let text = "unique_id,ds,y,region,size\na,1,1,North,5\nb,1,1,North,5\nc,1,1,South,7\na,2,1,North,5\nb,2,1,North,5\nc,2,1,South,7\n\
                    a,3,1,North,5\nb,3,1,North,5\nc,3,1,South,7\n";
        let options = ReadOptions::new().static_cols(["region", "size"]).categories(["region"]);
        let panel = Panel::read_csv(text.as_bytes(), "t.csv", &options).unwrap();
        let hierarchy = levels_of(&panel, &["region"]).unwrap();
        let ids: Vec<&str> = hierarchy.ids().map(|id| &**id).collect();
        assert_eq!(ids, ["Total", "North", "South", "a", "b", "c"]);
        let names: Vec<String> = panel.static_names().map(str::to_owned).collect();
        let columns = statics_of_sums(&panel, &hierarchy, &names).unwrap();
        let [region, size] = &columns[..] else { panic!("{columns:?}") };
        let texts = |of: &StaticOfSums| {
            of.values.iter().map(|text| text.clone().unwrap_or_default()).collect::<Vec<_>>()
        };
        assert_eq!(
            texts(region).iter().map(|text| &**text).collect::<Vec<_>>(),
            ["", "North", "South", "North", "North", "South"]
        );
        assert_eq!(texts(size).iter().map(|text| &**text).collect::<Vec<_>>(), ["", "5", "7", "5", "5", "7"]);
        assert_eq!((&*region.unlike[0], size.unlike.len()), ("Total", 1));
    }
}
