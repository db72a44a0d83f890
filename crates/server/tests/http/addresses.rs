//! The description and the page.

use crate::test_server::TestServer;

#[test]
fn whatever_is_described_is_there_and_has_no_other_method() {
    let server = TestServer::new();
    let mut client = server.client();
    let document = client.get("/openapi.json").json();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "delete"] {
            let status = client.ask(&method.to_uppercase(), path, &[], b"").status;
            let expected = if methods.get(method).is_some() { [200, 415] } else { [405; 2] };
            assert!(expected.contains(&status), "{method} {path}: {status}");
        }
    }
}

#[test]
fn the_page_asks_nobody_but_the_server() {
    let server = TestServer::new();
    let answer = server.client().get("/");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("connect-src 'self'"), "{policy}");
    // Each control has a label, and what changes is told to screen readers.
    let page = answer.text();
    assert!(!page.contains("{{"), "a part of the page is missing");
    for part in page.split("id=\"").skip(1).filter(|part| !part.starts_with("hint")) {
        let (id, rest) = part.split_once('"').unwrap();
        let tag = rest.split('>').next().unwrap();
        let is_control =
            page.contains(&format!("<input id=\"{id}\"")) || page.contains(&format!("<select id=\"{id}\""));
        assert!(!is_control || page.contains(&format!("for=\"{id}\"")), "{id} has no label: {tag}");
    }
    assert!(
        page.contains("role=\"status\"") && page.contains("role=\"alert\"") && page.contains("lang=\"en\"")
    );
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let outside = page.matches(outside).count();
        // The name of SVG's elements is no address.
        assert!(outside <= usize::from(page.contains("http://www.w3.org/2000/svg")), "the page asks others");
    }
}
