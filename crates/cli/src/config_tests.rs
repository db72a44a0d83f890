use std::path::Path;

use super::*;
use foretell_fuzz::{FuzzTarget, fuzz};

const RUN: &str = r#"
data = "sales.csv"
wide = true
h = 24
input-size = -1
hist-exog = ["price", "visits"]
seed = 0x1F
out = "-"

[set]
scaler_type = "standard"
windows_batch_size = "null"

[model.NHITS]
max_steps = 500
loss = { MQLoss = { quantiles = [0.5, 1e-1] } }

[model.MLP]
learning_rate = 1_0.5
"#;

fn of(command: &str, text: &str) -> Result<Vec<String>, String> {
    let entries = entries(text, Path::new("home/run.toml"), &crate::command(), command)
        .map_err(|facts| facts.message)?;
    Ok(entries.into_iter().map(|entry| entry.argument.into_string().unwrap()).collect())
}

fn arguments(text: &str) -> Result<Vec<String>, String> {
    of("fit", text)
}

#[test]
fn a_file_becomes_arguments_in_its_order() {
    let expected = [
        "--data=home/sales.csv",
        "--wide",
        "--h=24",
        "--input-size=-1",
        "--hist-exog=price",
        "--hist-exog=visits",
        "--seed=31",
        "--out=-",
        "--set=scaler_type=standard",
        "--set=windows_batch_size=null",
        "--model=NHITS",
        "--set=NHITS.max_steps=500",
        "--set=NHITS.loss={\"MQLoss\":{\"quantiles\":[0.5,0.1]}}",
        "--model=MLP",
        "--set=MLP.learning_rate=10.5",
    ];
    assert_eq!(arguments(RUN).unwrap(), expected);
    assert_eq!(arguments("model = 'MLP,NHITS'\nwide = false").unwrap(), ["--model=MLP,NHITS"]);
    assert_eq!(
        arguments("data = '/sales.csv'\nset = ['a=1', 'MLP.b=x']").unwrap()[1..],
        ["--set=a=1", "--set=MLP.b=x"]
    );
}

#[test]
fn mistakes_are_told_with_their_line_and_what_was_meant() {
    for (text, parts) in [
        (
            "data = 'a'\n\ninput_size = 3",
            ["home/run.toml, line 3: `input_size` is no flag of foretell forecast, fit", "`input-size`"],
        ),
        ("max_steps = 3", ["line 1: `max_steps`", "[set]"]),
        ("config = 'x'", ["line 1", "no flag"]),
        ("h = [1, 2]", ["line 1: `h` must be one value", "found a list"]),
        ("wide = 'yes'", ["`wide` must be true or false", "found `yes`"]),
        ("[data]\nfile = 'a'", ["line 1: `data` must be a value or a list of values", "found a table"]),
        ("hist-exog = [[1]]", ["`hist-exog` must be a list of values", "found a list"]),
        ("h = 3\n[model]\nNHITS = 500", ["line 3", "[model.NHITS]"]),
        ("[set]\nlearning_rate = nan", ["line 2: `learning_rate`", "finite"]),
    ] {
        let message = arguments(text).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{text:?}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_line_and_what_is_expected() {
    for (text, place, line, expected) in [
        ("data = 'a'\nh 24", "line 2, column 3", "h 24", "behind a key = and a value are expected"),
        ("h", "line 1, column 2", "h", "behind a key = and a value are expected"),
        ("h: 24", "line 1, column 2", "h: 24", "a key is expected, as h = 24"),
        ("h =\nseed = 7", "line 1, column 4", "h =", "behind = a value is expected"),
        ("  h = # none", "line 1, column 7", "h = # none", "behind = a value is expected"),
        ("h = = 3", "line 1, column 5", "h = = 3", "one = is too many"),
        ("= 3", "line 1, column 1", "= 3", "a key is expected"),
        ("freq = D", "line 1, column 8", "freq = D", "a text stands in quotes, as freq = \"D\""),
        ("freq = \"D\nh = 3", "line 1, column 10", "freq = \"D", "write \" behind it"),
        ("freq = 'D", "line 1, column 10", "freq = 'D", "write ' behind it"),
        ("data = \"C:\\data\"", "line 1, column 12", "data = \"C:\\data\"", "write the text in single ones"),
        ("level = [80 95]", "line 1, column 10", "level = [80 95]", "commas stand between those of a list"),
        ("level = [80,\n95\n\n", "line 2, column 3", "95", "a list is not closed; write ]"),
        ("set = { a = 1", "line 1, column 14", "set = { a = 1", "braces are not closed; write }"),
        ("set = { a }", "line 1, column 11", "set = { a }", "behind a key = and a value are expected"),
        ("h = 3 seed = 7", "line 1, column 5", "h = 3 seed = 7", "write each key on a line of its own"),
        ("[set", "line 1, column 5", "[set", "] is expected behind the name"),
        ("[ ]", "line 1, column 3", "[ ]", "the name of a table is expected"),
        ("ä = 3", "line 1, column 1", "ä = 3", "put any other name in quotes"),
        ("wide = True", "line 1, column 8", "wide = True", "true or false is expected, in small letters"),
        ("h = 024", "line 1, column 5", "h = 024", "a number begins with no 0"),
        ("h = 1.", "line 1, column 7", "h = 1.", "behind = a number, a text in quotes"),
        ("h = 3\nh = 4", "line 2, column 1", "h = 4", "it is there twice; keep one of both"),
    ] {
        let message = arguments(text).unwrap_err();
        let begin = format!("home/run.toml, {place}: no valid TOML in `{line}`: ");
        assert!(message.starts_with(&begin) && message.contains(expected), "{text:?}: {message}");
    }
}

#[test]
fn one_file_serves_several_commands() {
    let text = "
        data = 'a.csv'
        h = 3
        model = [{ name = 'MLP' }]
        checkpoint = 'state'
        [set]
        max_steps = 5
        [fit]
        out = 'model'
        set = { max_steps = 7 }
        [predict]
        model = 'model'
        level = [80]
        [cross-validate]
        h = 4
        model.nhits = { }
    ";
    let fit = ["--data=home/a.csv", "--h=3", "--model=MLP", "--checkpoint=home/state"];
    let own = ["--out=home/model", "--set=max_steps=7"];
    assert_eq!(of("fit", text).unwrap(), [&fit[..], &own].concat());
    assert_eq!(
        of("predict", text).unwrap(),
        ["--data=home/a.csv", "--h=3", "--model=home/model", "--level=80"]
    );
    let own = ["--data=home/a.csv", "--checkpoint=home/state", "--set=max_steps=5", "--h=4", "--model=nhits"];
    assert_eq!(of("cross-validate", text).unwrap(), own);
    // Models are nothing that predict could take, and for it passed over.
    assert!(of("predict", "[model.MLP]\nhidden_size = 8\n[set]\nalias = 'x'\n").unwrap().is_empty());
    for (text, parts) in [
        (
            "ids = 'a'",
            ["line 1: `ids` is no flag of foretell forecast, fit, predict, cross-validate or tune", ""],
        ),
        ("[fit]\nfutr = 'a'", ["line 2: `futr` is no flag of foretell fit", "did you mean `futr-exog`?"]),
        ("[predict]\n\ninput-size = 3", ["line 3: `input-size` is no flag of foretell predict", ""]),
        ("fit = 3", ["line 1: `fit` must be a table", "[fit]"]),
        ("insample = 3", ["line 1: `insample` must be true or false", "found `3`"]),
    ] {
        for command in ["fit", "predict", "cross-validate", "tune", "forecast"] {
            let message = of(command, text).unwrap_err();
            assert!(parts.iter().all(|part| message.contains(part)), "{command}, {text:?}: {message}");
        }
    }
}

#[test]
fn models_of_one_name_are_numbered() {
    let text = "
        [[model]]
        name = 'nhits'
        max_steps = 5
        [[model]]
        name = 'MLP'
        hidden_size = 8
        [[model]]
        name = 'NHITS'
        alias = 'deep'
    ";
    let expected = [
        "--model=nhits", "--set=NHITS.0.max_steps=5", "--model=MLP", "--set=MLP.hidden_size=8",
        "--model=NHITS", "--set=NHITS.1.alias=deep",
    ];
    assert_eq!(arguments(text).unwrap(), expected);
    // In a table that is called by the model, the name is a key like others.
    let named = arguments("[model.NHITS]\nname = 'MLP'").unwrap();
    assert_eq!(named, ["--model=NHITS", "--set=NHITS.name=MLP"]);
    let twice = arguments("[model.NHITS]\n[model.nhits]\nmax_steps = 3").unwrap();
    assert_eq!(twice, ["--model=NHITS", "--model=nhits", "--set=NHITS.1.max_steps=3"]);
    for (text, part) in [
        ("[[model]]\nalias = 'a'", "line 1: a [[model]] needs a name"),
        ("[[model]]\nname = 3", "line 1: a [[model]] needs a name"),
        ("model = ['MLP', { name = 'MLP' }]", "line 1: `model` must be a list of values"),
    ] {
        let message = arguments(text).unwrap_err();
        assert!(message.contains(part), "{text:?}: {message}");
    }
}

#[test]
fn messages_about_the_files_flags_are_led_by_their_line() {
    let lines = [
        ("--h", Some(3)),
        ("--set NHITS.max_step", Some(7)),
        ("--intervals", Some(9)),
        ("--set", None),
        ("--set h", None),
        ("--insample", None),
    ];
    let lines = lines.map(|(flag, line)| (flag.to_owned(), line)).to_vec();
    let origins = Origins { file: "run.toml".to_owned(), lines };
    let facts = |message: &str| ErrorFacts::told("command_line", message);
    let locate = |message: &str| origins.locate(facts(message)).message;
    assert_eq!(
        locate("invalid value 'x' for '--h <N>'"),
        "run.toml, line 3: invalid value 'x' for '--h <N>'"
    );
    assert!(locate("--set NHITS.max_step: no").starts_with("run.toml, line 7: "));
    for elsewhere in [
        "--hist-exog: no",
        "--set NHITS.max_steps: no",
        "no",
        "--set h: the horizon is set by --h",
        "too few windows; calibrate on more (--intervals N)",
    ] {
        assert_eq!(locate(elsewhere), elsewhere);
    }
    let conflict = "the argument '--insample' cannot be used with '--h <N>'";
    assert_eq!(locate(conflict), conflict);
    assert_eq!(origins.locate_conflict(facts(conflict)).message, format!("run.toml, line 3: {conflict}"));
}

/// Whatever the file says, it becomes arguments or a message.
#[test]
fn no_file_panics() {
    const WORDS: &[&str] = &[
        "[model.NHITS]", "[[model]]\nname = 'mlp'", "[predict]", "[cross-validate.set]", "[[set]]", "[set]",
        "model", "set", "h = 24", "'''", "\"\"\"", "\"", "{", "}", "[", "]]", "=", "\n", "[[[[[[[[[[[[[[[[",
        "{a={a={a={a=", "a.a.a.a.a.a.a.a", "0x", "0b1", "1979-05-27T07:32:00Z", "nan", "+inf", "\\u0000",
        "\\U0010FFFF", "true", "# ", "\r\n", "1_000", "data", "hist-exog",
    ];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let cli = crate::command();
    let example = cli.find_subcommand("fit").unwrap().get_after_long_help().unwrap().to_string();
    let example =
        example.split_once("in tables:\n").unwrap().1.lines().take_while(|line| line.starts_with("  "));
    let example = example.collect::<Vec<_>>().join("\n");
    let mut large = RUN.to_owned();
    (0..200).for_each(|i| large += &format!("key_{i} = [1, 2.5, \"{i}\"]\n"));
    let seeds = [RUN, &example, &large].map(|text| text.as_bytes().to_vec()).to_vec();
    let target = FuzzTarget { name: "run.toml", seeds, words: WORDS, always: 1 << 20, factor: 100 };
    fuzz(&target, |bytes, _| {
        ["fit", "predict", "cross-validate", "tune", "forecast"]
            .iter()
            .try_for_each(|command| entries(&text(bytes), Path::new("run.toml"), &cli, command).map(drop))
    });
}
