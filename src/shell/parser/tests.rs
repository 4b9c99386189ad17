use super::*;
use proptest::prelude::*;

/// The tree without its places, short enough to compare.
fn shown(script: &Script) -> String {
    let lists: Vec<String> = script.lists.iter().map(shown_list).collect();
    lists.join("; ")
}

fn shown_list(list: &List) -> String {
    let mut text = shown_pipeline(&list.first);
    for (connector, pipeline) in &list.rest {
        text.push_str(match connector {
            Connector::And => " && ",
            Connector::Or => " || ",
        });
        text.push_str(&shown_pipeline(pipeline));
    }
    if list.is_background {
        text.push_str(" &");
    }
    text
}

fn shown_pipeline(pipeline: &Pipeline) -> String {
    let commands: Vec<String> = pipeline.commands.iter().map(shown_command).collect();
    let sign = if pipeline.is_negated { "!" } else { "" };
    format!("{sign}{}", commands.join(" | "))
}

fn shown_command(command: &Command) -> String {
    let form = match &command.form {
        Form::Simple { assignments, words } => {
            let names = assignments.iter().map(|set| format!("{}=", set.name));
            let words = words.iter().map(|word| {
                let literal = word.literal().map(String::from);
                literal.unwrap_or_else(|| format!("<{}>", word.source))
            });
            names.chain(words).collect::<Vec<_>>().join(",")
        }
        Form::Group(script) => format!("{{{}}}", shown(script)),
        Form::Subshell(script) => format!("({})", shown(script)),
        Form::If {
            branches,
            otherwise,
        } => {
            let branches: Vec<String> = branches
                .iter()
                .map(|(test, then)| format!("{} ? {}", shown(test), shown(then)))
                .collect();
            format!("if[{} : {}]", branches.join(" / "), shown(otherwise))
        }
        Form::Loop {
            is_until,
            condition,
            body,
        } => {
            let word = if *is_until { "until" } else { "while" };
            format!("{word}[{}]({})", shown(condition), shown(body))
        }
        Form::For { variable, body, .. } => format!("for {variable}({})", shown(body)),
        Form::Count {
            condition, body, ..
        } => format!("count {condition}({})", shown(body)),
        Form::Case { arms, .. } => {
            let arms: Vec<String> = arms.iter().map(|(_, then)| shown(then)).collect();
            format!("case[{}]", arms.join(" / "))
        }
        Form::Function { name, body } => format!("{name}(){}", shown_command(body)),
        Form::Arithmetic(text) => format!("(({text}))"),
        Form::Opaque(text) => format!("opaque {text}"),
    };
    let files: Vec<String> = command
        .redirections
        .iter()
        .map(|file| {
            format!(
                " {:?} {:?}",
                file.kind,
                file.target.literal().unwrap_or_default()
            )
        })
        .collect();
    form + &files.concat()
}

#[test]
fn scripts_have_the_tree_that_sh_gives_them() {
    for (text, expected) in [
        ("a b&&c||d;e &", "a,b && c || d; e &"),
        ("! a | b # c\nd", "!a | b; d"),
        ("A=1 B='x y' c \"d e\"\\ f", "A=,B=,c,d e f"),
        ("a[$i]=1 b[\"$(c)\"]+=2 d e[1]=f", "a=,b=,d,e[1]=f"),
        (
            "a $X ${Y:-z} $(b c) `d` $((1+2))",
            "a,<$X>,<${Y:-z}>,<$(b c)>,<`d`>,<$((1+2))>",
        ),
        (
            "if a; then b; elif c; then d; else e; fi",
            "if[a ? b / c ? d : e]",
        ),
        (
            "until a; do b; done > /x 2>&1",
            "until[a](b) Write \"/x\" Duplicate \"1\"",
        ),
        ("while ! a\ndo\nb\ndone", "while[!a](b)"),
        ("for i in 1 2; do a; done", "for i(a)"),
        ("for ((i=0; i<3; i++)); do a; done", "count i<3(a)"),
        ("case $1 in a|b) c;; *) d ;; esac; e", "case[c / d]; e"),
        ("f() { a; }; function g { b; }; f", "f(){a}; g(){b}; f"),
        ("(a; b) && { c; }", "(a; b) && {c}"),
        (
            "[[ -f x && $a == b* ]] || c",
            "[[,-f,x,&&,<$a>,==,b*,]] || c",
        ),
        ("((i++)); a", "((i++)); a"),
        (
            "cat <<EOF && b\nx $y\nEOF\nc",
            "cat Text \"x $y\\n\" && b; c",
        ),
        ("a \\\n b", "a,b"),
        (
            "echo $'a\\nb' $(cat <<'E'\n)\nE\n)",
            "echo,a\nb,<$(cat <<'E'\n)\nE\n)>",
        ),
        (
            "a &> x; b 2>/dev/null",
            "a Both \"x\"; b Write \"/dev/null\"",
        ),
        ("done; a", "done; a"),
        ("a ) b", "a; opaque ); b"),
    ] {
        assert_eq!(shown(&parse(text)), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn every_text_has_a_tree(text in "[ -~\\n\\té]{0,200}") {
        parse(&text);
    }

    #[test]
    fn every_mix_of_shell_words_has_a_tree(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "if ", "then ", "fi;", "while ", "until ", "do ", "done ", "for i in ", "case ",
                "esac ", "in ", "(", ")", "{ ", "}", "$(", "`", "\"", "'", "$((", "))", "${", ":-",
                "<<E\n", "E\n", ";;", ";", "&", "&&", "|", "||", "!", "[ ", " ]", "[[ ", " ]]",
                "a", " ", "\n", "$x", ">", "<", "2>&1", "f()", "x=", "\\", "#", "$'",
            ]),
            0..60,
        )
    ) {
        parse(&pieces.concat());
    }
}
