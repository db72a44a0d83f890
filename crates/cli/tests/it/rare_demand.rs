//! Demand that is 0 at most steps, its sums, and series of which hardly anything is known.

use crate::test_directory::{TestDirectory, date, rows, stderr};

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

#[test]
fn sums_of_rare_demand_lie_within_their_intervals() {
    let dir = TestDirectory::new();
    // Of 20 products one is sold every fourth day in the mean, one to four of it: 12.5 a day.
    let sold = |id: usize, day: usize| {
        let chance = (id * 7919 + day * 104_729 + id * day * 31) % 997;
        if chance.is_multiple_of(4) { 1 + chance % 4 + chance / 4 % 4 } else { 0 }
    };
    let of = |id: usize| {
        (0..120).map(|day| format!("p{id:02},{},{}\n", date(day), sold(id, day))).collect::<String>()
    };
    dir.put("d.csv", &format!("unique_id,ds,y\n{}", (0..20).map(of).collect::<String>()));
    let labels = (0..20).map(|id| format!("p{id:02},all\n")).collect::<String>();
    dir.put("labels.csv", &format!("unique_id,group\n{labels}"));
    let mean = (0..20).flat_map(|id| (0..120).map(move |day| sold(id, day))).sum::<usize>() as f64 / 120.0;
    dir.ok("forecast --data d.csv --h 2 --level 80 --out f.csv --log none");
    let forecast = dir.read("f.csv");
    assert_eq!(rows(&forecast)[0], ["unique_id", "ds", "Auto", "Auto-lo-80", "Auto-median", "Auto-hi-80"]);
    dir.ok("fit --data d.csv --model CrostonSBA --h 2 --out m --log none");
    dir.ok("predict --model m --data d.csv --level 80 --out c.csv --log none");
    let sum_of = |file: &str| -> Vec<f64> {
        let reconcile = format!(
            "reconcile --forecast {file} --levels group --static labels.csv --method BottomUp --log none"
        );
        rows(&dir.ok(&reconcile))[1][2..].iter().map(|cell| number(cell)).collect()
    };
    for file in ["f.csv", "c.csv"] {
        let sum = sum_of(file);
        let [point, low, median, high] = sum[..] else { panic!("{sum:?}") };
        assert!((point / mean - 1.0).abs() < 0.25, "{point} of {mean}");
        // The deviation of a day's sum is about 5.
        assert!(low < point - 2.0 && point + 2.0 < high && (median - point).abs() < 4.0, "{file}: {sum:?}");
        assert!((8.0..25.0).contains(&(high - low)), "{file}: {sum:?}");
    }
    // More levels, or another one, describe the same sum.
    let one = sum_of("c.csv");
    dir.ok("predict --model m --data d.csv --level 80,95 --out c2.csv --log none");
    let two = sum_of("c2.csv");
    let [point, lowest, low, median, high, highest] = two[..] else { panic!("{two:?}") };
    let moved = [(point, one[0]), (low, one[1]), (median, one[2]), (high, one[3])];
    assert!(moved.iter().all(|(two, one)| (two - one).abs() < 1.5), "{one:?} {two:?}");
    assert!(lowest < low - 1.0 && high + 1.0 < highest, "{two:?}");
    dir.ok("predict --model m --data d.csv --level 99.9 --out c3.csv --log none");
    let far = sum_of("c3.csv");
    assert!((far[2] - one[2]).abs() < 2.0, "{one:?} {far:?}");
}

#[test]
fn what_has_hardly_begun_is_not_certain_and_varies_in_sums() {
    let dir = TestDirectory::new();
    let of = |id: &str| {
        (0..60).map(|day| format!("{id},{},{}\n", date(day), 50 + day * day * 7 % 11)).collect::<String>()
    };
    let new = format!("new,{},40\n", date(59));
    dir.put("d.csv", &format!("unique_id,ds,y\n{}{}{new}", of("a"), of("b")));
    dir.put("labels.csv", "unique_id,group\na,all\nb,all\nnew,all\n");
    let told = "1 series without an interval: new; in the intervals of sums they vary";
    let width = |forecast: &str, id: &str| -> f64 {
        let row = rows(forecast).into_iter().find(|row| row[0] == id).unwrap();
        number(row[4]) - number(row[3])
    };
    // By itself one that has none, or that of a size that is not known.
    dir.ok("fit --data d.csv --model Naive,FLAIR --h 1 --out m --log none");
    let forecast = dir.ok("predict --model m --data d.csv --level 80 --log none");
    let new = rows(&forecast).into_iter().find(|row| row[0] == "new").unwrap().join(",");
    assert!(new.contains(",40.0,,,40.0,33.6"), "{new}");
    dir.ok("fit --data d.csv --model Naive --h 1 --out n --log none");
    let output = dir.run("predict --model n --data d.csv --level 80");
    let alone = stderr(&output);
    assert!(alone.contains("too few known values for an interval: new"), "{alone}");
    assert!(!alone.contains("infinite or not a number"), "{alone}");
    dir.put("naive.csv", &String::from_utf8(output.stdout).unwrap());
    let output =
        dir.run("reconcile --forecast naive.csv --levels group --static labels.csv --method BottomUp");
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
    let of_three = width(&String::from_utf8(output.stdout).unwrap(), "all");
    let without = |file: &str, text: &str| {
        text.lines().filter(|line| !line.starts_with(file)).collect::<Vec<_>>().join("\n") + "\n"
    };
    dir.put("two.csv", &without("new", &dir.read("naive.csv")));
    dir.put("labels2.csv", "unique_id,group\na,all\nb,all\n");
    let two = dir
        .ok("reconcile --forecast two.csv --levels group --static labels2.csv --method BottomUp --log none");
    assert!(of_three > 1.1 * width(&two, "all"), "{of_three} beside {}", width(&two, "all"));
    // The same of models that keep the hierarchy.
    dir.ok("fit --data d.csv --model Naive --h 1 --levels group --static labels.csv --reconciliation BottomUp --out h --log none");
    let output = dir.run("predict --model h --data d.csv --level 80");
    assert!(stderr(&output).contains(told), "{}", stderr(&output));
}

#[test]
fn a_new_product_with_a_median_varies_in_sums() {
    let dir = TestDirectory::new();
    let of = |id: &str, every: usize| {
        let sold = |day: usize| if day.is_multiple_of(every) { 1 + day % 4 } else { 0 };
        (0..60).map(|day| format!("{id},{},{}\n", date(day), sold(day))).collect::<String>()
    };
    let new = |sold: usize| (58..60).map(|day| format!("new,{},{sold}\n", date(day))).collect::<String>();
    dir.put("labels.csv", "unique_id,group\na,all\nb,all\nc,all\nnew,all\n");
    let hierarchy = "--levels group --static labels.csv";
    for (sold, model, asked) in [
        (2, "CrostonSBA", "--level 80"),
        (0, "CrostonSBA", "--level 80"),
        (2, "Naive", "--quantiles 0.1,0.5,0.9"),
    ] {
        dir.put("d.csv", &format!("unique_id,ds,y\n{}{}{}{}", of("a", 3), of("b", 5), of("c", 7), new(sold)));
        dir.ok(&format!("fit --data d.csv --model {model} --h 1 --out m --overwrite --log none"));
        dir.ok(&format!("predict --model m --data d.csv {asked} --out f.csv --log none"));
        dir.ok(&format!("fit --data d.csv --model {model} --h 1 {hierarchy} --reconciliation BottomUp --out h --overwrite --log none"));
        let ways = [
            format!("reconcile --forecast f.csv {hierarchy} --method BottomUp"),
            format!("predict --model h --data d.csv {asked}"),
        ];
        for way in ways {
            let output = dir.run(&way);
            let told = stderr(&output);
            assert!(output.status.success() && told.contains("1 series without an interval: new"), "{told}");
            let table = String::from_utf8(output.stdout).unwrap();
            let table = rows(&table);
            let of = |id: &str| table.iter().find(|row| row[0] == id).unwrap().clone();
            // The median is known, and what was none stays so.
            let of_new = of("new");
            assert!(of_new[3].is_empty() && of_new[5].is_empty(), "{of_new:?}");
            assert!((number(of_new[4]) - sold as f64).abs() < 0.5, "{of_new:?}");
            let sum: Vec<f64> = of("all")[2..].iter().map(|cell| number(cell)).collect();
            assert!(sum[1] < sum[2] && sum[2] < sum[3], "{sum:?}");
        }
    }
}

#[test]
fn forecasts_are_reconciled_by_the_names_and_marks_that_they_have() {
    let dir = TestDirectory::new();
    let row = |shop: &str, day: usize, y: &str| format!("{shop};{};{y}\n", date(day));
    let rows_of =
        [row("Ulm", 0, "10,5"), row("Ulm", 1, "11,5"), row("Bonn", 0, "20,25"), row("Bonn", 1, "1,5")];
    dir.put("f.csv", &format!("Filiale;Datum;AutoETS\n{}", rows_of.concat()));
    dir.put("labels.csv", "Filiale,Land\nUlm,D\nBonn,D\n");
    let output = dir.run("reconcile --forecast f.csv --levels Land --static labels.csv --method BottomUp");
    let told = stderr(&output);
    assert!(output.status.success() && told.contains("series Filiale, times Datum"), "{told}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.starts_with("Filiale;Datum;AutoETS\n") && table.contains(";30,75\n"), "{table}");
}
