//! Merged cells of a sheet, of which the file holds what stands in the first.

use std::collections::BTreeSet;

use calamine::{Data, Dimensions};

use super::workbook_sizes::CELL;

/// A cell with its row and column, from 0.
pub(super) type PlacedCell = ((u32, u32), Data);

/// Bytes of a cell beside those of every cell.
pub(super) fn text_bytes(data: &Data) -> u64 {
    if let Data::String(text) = data { text.len() as u64 } else { 0 }
}

/// Gives all rows of a merged cell what stands in the first one, from the first row of values on, and tells which columns these are, from 0.
/// Numbers are taken for values of one row, which others do not share, but for those of the first column. Nothing where that takes more
/// than this many bytes.
pub(super) fn fill_merged(
    cells: &mut Vec<PlacedCell>,
    merged: &[Dimensions],
    (first_row, left): (u32, u32),
    mut room: u64,
) -> Option<BTreeSet<u32>> {
    let mut rows: Vec<u32> = cells.iter().map(|((row, _), _)| *row).collect();
    rows.dedup();
    let (mut filled, mut more) = (BTreeSet::new(), Vec::new());
    for region in merged.iter().filter(|region| region.start.0 >= first_row && region.end.0 > region.start.0)
    {
        let at = |row: u32| cells.binary_search_by_key(&(row, region.start.1), |(place, _)| *place).ok();
        let Some(first) = at(region.start.0).map(|place| &cells[place].1) else { continue };
        let is_shared = match first {
            Data::String(_) | Data::DateTime(_) | Data::DateTimeIso(_) => true,
            Data::Int(_) | Data::Float(_) => region.start.1 == left,
            _ => false,
        };
        if !is_shared {
            continue;
        }
        let text = text_bytes(first);
        let covered = rows.partition_point(|row| *row <= region.start.0)
            ..rows.partition_point(|row| *row <= region.end.0);
        for &row in &rows[covered] {
            room = room.checked_sub(CELL + text)?;
            if at(row).is_none() {
                filled.insert(region.start.1);
                more.push(((row, region.start.1), first.clone()));
            }
        }
    }
    cells.extend(more);
    cells.sort_by_key(|(place, _)| *place);
    // Regions of a damaged file may overlap.
    cells.dedup_by_key(|(place, _)| *place);
    Some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Data {
        Data::String(text.into())
    }

    #[test]
    fn merged_cells_stand_for_all_of_their_rows() {
        let mut cells = vec![((0, 0), text("shop")), ((0, 1), text("ds")), ((0, 2), text("y"))];
        for row in 1..5 {
            cells.push(((row, 1), Data::Float(f64::from(row))));
        }
        cells.extend([((1, 0), text("a")), ((3, 0), Data::Int(7)), ((1, 2), Data::Float(9.0))]);
        cells.sort_by_key(|(place, _)| *place);
        let region = |start, end| Dimensions { start, end };
        // Of the header, of two shops, of a value, and one without a cell.
        let merged = [
            region((0, 0), (1, 0)),
            region((1, 0), (2, 0)),
            region((3, 0), (9, 0)),
            region((1, 2), (4, 2)),
            region((2, 5), (3, 5)),
        ];
        let before = cells.clone();
        assert_eq!(fill_merged(&mut cells, &merged, (1, 0), 10 * CELL), Some(BTreeSet::from([0])));
        let ids: Vec<&Data> = cells
            .iter()
            .filter(|((row, column), _)| *row > 0 && *column == 0)
            .map(|(_, data)| data)
            .collect();
        assert_eq!(ids, [&text("a"), &text("a"), &Data::Int(7), &Data::Int(7)]);
        assert_eq!(cells.len(), before.len() + 2);
        assert_eq!(fill_merged(&mut before.clone(), &merged, (1, 0), CELL), None, "too much");
        // Of regions that overlap each cell is filled once.
        let mut twice = before.clone();
        let regions = [merged[1], merged[1]];
        assert_eq!(fill_merged(&mut twice, &regions, (1, 0), 10 * CELL), Some(BTreeSet::from([0])));
        assert_eq!(twice.len(), before.len() + 1);
    }
}
