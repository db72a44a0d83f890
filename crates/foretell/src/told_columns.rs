//! The columns of tables that are told by what they hold, and the questions that remain.

use foretell_data::{DataError, Panel, ReadOptions, Roles};
use foretell_tables::{CellError, ColumnError, Flaw, MemoryTable, NumberFormat, TableError};

/// These options with the notation that such a table is [written in](ReadOptions::with_notation_of), and the names of the columns that such a table has for ids, times and values, where it is clear which they are; and what
/// its columns hold. A table that cannot be read tells nothing: that is an error of its reading.
pub fn told_columns(mut options: ReadOptions, table: &MemoryTable) -> (ReadOptions, Option<Roles>) {
    let said = [options.time_format.is_some(), options.numbers != NumberFormat::default()];
    options = options.as_written_in(table, said);
    let roles = options.roles_in(table).ok().flatten();
    if let Some(Roles { id, time, target: Some(target), .. }) =
        roles.as_ref().filter(|roles| roles.are_clear())
    {
        options.time_col.clone_from(time);
        options.target_col.clone_from(target);
        options.id_col = id.clone().unwrap_or(options.id_col);
    }
    (options, roles)
}

/// Whether it is the error of a column that holds no numbers but texts, or a type that is neither. Such a column is no mistake where it was
/// not named; numbers of which some are missing, infinite or in another notation are one.
pub fn is_of_texts(error: &DataError) -> bool {
    matches!(
        error,
        DataError::Table(TableError::Cell(CellError::Value {
            flaw: Flaw::Labelled | Flaw::AmidNumbers | Flaw::Type,
            ..
        }))
    )
}

/// The static columns that models read, and those of texts, which are left out where they are not `named`.
pub fn statics_and_texts(names: Vec<String>, named: &[String], panel: &Panel) -> (Vec<String>, Vec<String>) {
    let of_texts = |name: &String| panel.static_value(name, 0).err().is_some_and(|error| is_of_texts(&error));
    names.into_iter().partition(|name| named.contains(name) || !of_texts(name))
}

/// What is told of static columns of texts that are left out, if there are some; of one with numbers in most cells, which cell has none, since it
/// may be of codes as well as a slip.
pub fn texts_not_read(texts: &[String], panel: &Panel) -> Option<String> {
    let shown = |name: &String| match panel.static_value(name, 0).err() {
        Some(DataError::Table(TableError::Cell(CellError::Value {
            at,
            value,
            flaw: Flaw::AmidNumbers,
            ..
        }))) => {
            let of = at.series.as_ref().map(|id| format!(" of series `{id}`")).unwrap_or_default();
            format!(
                "{name} (if they are codes, they are categories; if they are numbers, {value:?}{of} in {at} is a slip: write a number there)"
            )
        }
        _ => name.clone(),
    };
    let shown: Vec<String> = texts.iter().map(shown).collect();
    (!texts.is_empty()).then(|| format!("static columns of texts are not read: {}", shown.join(", ")))
}

/// The error of a table that lacks a column, as the question for the one that these roles could not tell. Other errors are returned unchanged.
pub fn ask_for_column(roles: Option<&Roles>, error: DataError) -> DataError {
    let question = match &error {
        DataError::Table(TableError::Column(ColumnError::Missing { table, .. })) => {
            roles.and_then(|roles| roles.question(table))
        }
        _ => None,
    };
    question.unwrap_or(error)
}

/// The columns that may be meant, where it is not clear which, or where one is not there.
pub fn columns_meant(error: &DataError) -> &[String] {
    match error {
        DataError::Table(TableError::Column(ColumnError::Unclear(unclear))) => &unclear.candidates,
        DataError::Table(TableError::Column(ColumnError::Missing { available, .. })) => available,
        DataError::LaidOut { error, .. } => columns_meant(error),
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use foretell_calendar::Freq;
    use foretell_tables::FileFormat;

    use super::*;

    #[test]
    fn static_columns_of_texts_are_told_from_numbers_with_a_mistake() {
        let text = "unique_id,city,late,endless,euro,gap,size\na,Ulm,,inf,\"1.000,5\",1,1\nb,Bonn,x,2,\"2.000,5\",,2\n";
        let table = MemoryTable::new("s.csv", FileFormat::of("s.csv"), text.as_bytes().to_vec());
        let freq = Freq::parse("1").expect("a frequency");
        let panel = Panel::from_series(freq, [("a", 0, [1.0, 2.0]), ("b", 0, [1.0, 2.0])]).expect("a panel");
        let panel = panel.with_static_memory(&table, &ReadOptions::default()).expect("static columns");
        let all = ["city", "late", "endless", "euro", "gap", "size"].map(str::to_owned);
        let (read, texts) = statics_and_texts(all.to_vec(), &[], &panel);
        assert_eq!(texts, ["city", "late"]);
        assert_eq!(read, all[2..]);
        let (_, texts) = statics_and_texts(all.to_vec(), &all[..1], &panel);
        assert_eq!(texts, ["late"]);
        assert_eq!(
            texts_not_read(&texts, &panel).as_deref(),
            Some("static columns of texts are not read: late")
        );
        assert_eq!(texts_not_read(&[], &panel), None);
    }

    #[test]
    fn the_text_of_a_static_column_of_numbers_is_named() {
        let freq = Freq::parse("1").expect("a frequency");
        let ids = ["a", "b", "c", "d"];
        let told = |cells: [&str; 4]| {
            let rows: String = ids.iter().zip(cells).map(|(id, cell)| format!("{id},{cell}\n")).collect();
            let text = format!("unique_id,size\n{rows}zz,no store\n");
            let table = MemoryTable::new("s.csv", FileFormat::of("s.csv"), text.into_bytes());
            let panel = Panel::from_series(freq, ids.map(|id| (id, 0, [1.0, 2.0]))).expect("a panel");
            let panel = panel.with_static_memory(&table, &ReadOptions::default()).expect("static columns");
            let (_, texts) = statics_and_texts(vec!["size".to_owned()], &[], &panel);
            texts_not_read(&texts, &panel)
        };
        for (cells, line, id) in [(["1", "2", "closed", "4"], 4, "c"), (["closed", "2", "3", "4"], 2, "a")] {
            let expected = format!(
                "static columns of texts are not read: size (if they are codes, they are categories; if they are numbers, \"closed\" of series \
                 `{id}` in s.csv, line {line} is a slip: write a number there)"
            );
            assert_eq!(told(cells).as_deref(), Some(&*expected));
        }
        assert_eq!(
            told(["1", "big", "small", "4"]).as_deref(),
            Some("static columns of texts are not read: size")
        );
        assert_eq!(told(["1", "2", "3", "4"]), None);
    }
}
