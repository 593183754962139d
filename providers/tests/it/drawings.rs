//! QR codes that are read back, and charts whose pixels are looked at.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::{Content, ToolError, ToolOutput};
use serde_json::{Value, json};

use crate::support::{context, deps, invoke};

async fn draw(tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
    invoke(deps(), tool, json!({}), args, &context()).await
}

/// The picture's bytes and media type.
fn picture(output: &ToolOutput) -> (Vec<u8>, &str) {
    match &output.content[1] {
        Content::Image { data, mime_type, .. } => (BASE64_STANDARD.decode(data).unwrap(), mime_type),
        other => panic!("{other:?}"),
    }
}

/// Width, height and pixels, all channels.
fn pixels(png: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    (info.width as usize, info.height as usize, pixels)
}

#[tokio::test]
async fn a_qr_code_reads_back_as_what_went_in() {
    let long = "鱼".repeat(200);
    for (text, size, correction) in
        [("https://example.com/?q=鱼", 400, "medium"), ("x", 100, "high"), (long.as_str(), 900, "low")]
    {
        let output = draw("qrcode/generate", json!({"text": text, "size": size, "correction": correction}))
            .await
            .unwrap();
        let (bytes, media_type) = picture(&output);
        assert_eq!(media_type, "image/png");
        let (width, height, grey) = pixels(&bytes);
        let mut image =
            rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| grey[y * width + x]);
        let (_, read) = image.detect_grids()[0].decode().unwrap();
        assert_eq!(read, text);
        assert!(width <= size.max(180) && grey[0] == 255, "{width}");
    }
    let too_long =
        draw("qrcode/generate", json!({"text": "鱼".repeat(600), "correction": "high"})).await.unwrap_err();
    assert!(too_long.for_model().contains("/text: is too long for one code"), "{too_long:?}");
}

#[tokio::test]
async fn a_qr_code_as_svg_has_a_square_for_each_dark_module() {
    let output = draw("qrcode/generate", json!({"text": "x", "format": "svg"})).await.unwrap();
    let (bytes, media_type) = picture(&output);
    let svg = String::from_utf8(bytes).unwrap();
    assert_eq!(media_type, "image/svg+xml");
    assert!(svg.contains("viewBox=\"0 0 29 29\"") && svg.matches("h1v1h-1z").count() > 150, "{svg}");
}

fn sales(kind: &str, format: &str) -> Value {
    json!({
        "kind": kind, "format": format, "title": "季度销售额 <2026>", "unit": "万元",
        "labels": ["一季度", "二季度", "三季度"],
        "series": [{"name": "线上", "values": [12, -4, 15.5]}, {"name": "门店", "values": [8, null, 11]}],
    })
}

#[tokio::test]
async fn a_chart_as_svg_is_well_formed_and_holds_every_text() {
    for kind in ["line", "bar"] {
        let output = draw("chart/render", sales(kind, "svg")).await.unwrap();
        let (bytes, _) = picture(&output);
        let svg = String::from_utf8(bytes).unwrap();
        for text in ["季度销售额 &lt;2026&gt;", "一季度", "三季度", "线上", "门店", "万元"] {
            assert!(svg.contains(text), "{kind}: {text} in {svg}");
        }
        let mut reader = quick_xml::Reader::from_str(&svg);
        while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    }
}

/// How many pixels are of about this colour.
fn count(pixels: &[u8], colour: [u8; 3]) -> usize {
    let is_near = |pixel: &&[u8]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 12);
    pixels.chunks_exact(3).filter(is_near).count()
}

#[tokio::test]
async fn a_chart_as_png_has_its_colours_and_its_letters() {
    let (first, second) = ([0x33, 0x6f, 0xb5], [0xe0, 0x7b, 0x28]);
    for (kind, least) in [("line", 300), ("bar", 3_000)] {
        let output = draw("chart/render", sales(kind, "png")).await.unwrap();
        assert_eq!(output.content[0], Content::text("The chart was drawn."));
        let (bytes, media_type) = picture(&output);
        if let Some(d) = std::env::var_os("CHART_DUMP") {
            std::fs::write(std::path::Path::new(&d).join(format!("{kind}.png")), &bytes).unwrap();
        } // DUMP
        let (width, height, shown) = pixels(&bytes);
        assert_eq!((width, height, media_type), (800, 500, "image/png"));
        assert!(
            count(&shown, first) > least && count(&shown, second) > least / 3,
            "{kind}: {}",
            count(&shown, first)
        );
        // The title is written in the uppermost rows.
        let dark =
            |rows: &[u8]| rows.chunks_exact(3).filter(|pixel| pixel.iter().all(|part| *part < 90)).count();
        assert!(dark(&shown[..width * 40 * 3]) > 200, "{kind}: the title has letters");
        let mut untitled = sales(kind, "png");
        untitled["title"] = json!("");
        let untitled = draw("chart/render", untitled).await.unwrap();
        let (_, _, bare) = pixels(&picture(&untitled).0);
        assert!(dark(&bare[..width * 14 * 3]) == 0, "{kind}: and without a title there are none");
    }
}

#[tokio::test]
async fn a_pie_shares_its_disc_by_the_numbers() {
    let args = json!({
        "kind": "pie", "labels": ["甲", "乙", "丙"], "series": [{"name": "份额", "values": [75, 25, 0]}], "width": 600, "height": 400,
    });
    let output = draw("chart/render", args).await.unwrap();
    if let Some(d) = std::env::var_os("CHART_DUMP") {
        std::fs::write(std::path::Path::new(&d).join("pie.png"), &picture(&output).0).unwrap();
    } // DUMP
    let (_, _, shown) = pixels(&picture(&output).0);
    let (large, small) = (count(&shown, [0x33, 0x6f, 0xb5]), count(&shown, [0xe0, 0x7b, 0x28]));
    let ratio = f64::from(u32::try_from(large).unwrap()) / f64::from(u32::try_from(small).unwrap());
    assert!((2.7..3.3).contains(&ratio), "{large} to {small}");
}

#[tokio::test]
async fn letters_that_the_font_lacks_are_told() {
    let args = json!({"kind": "bar", "labels": ["한국", "龘"], "series": [{"name": "n", "values": [1, 2]}]});
    let text = draw("chart/render", args).await.unwrap().text();
    assert!(text.contains("국") && text.contains("龘") && text.contains("`svg`"), "{text}");
}

#[tokio::test]
async fn charts_of_every_shape_are_drawn() {
    let long: Vec<_> = (0..200).map(|at| format!("一个很长的标签{at}")).collect();
    let values = |value: f64| vec![value; 200];
    let table = [
        json!({"kind": "line", "labels": ["a"], "series": [{"name": "", "values": [0]}]}),
        json!({"kind": "line", "labels": ["a", "b"], "series": [{"name": "n", "values": [null, null]}]}),
        json!({"kind": "bar", "labels": ["a", "b"], "series": [{"name": "n", "values": [-1e15, 1e15]}]}),
        json!({"kind": "line", "labels": ["a", "b"], "series": [{"name": "n", "values": [1e15, 999_999_999_999_999.9]}]}),
        json!({"kind": "bar", "labels": ["a", "b"], "series": [{"name": "n", "values": [1e-300, 2e-300]}]}),
        json!({"kind": "line", "labels": long, "series": vec![json!({"name": "n".repeat(80), "values": values(7.0)}); 8], "width": 300, "height": 200}),
        json!({"kind": "pie", "labels": long, "series": [{"name": "n", "values": values(0.1)}]}),
    ];
    for args in table {
        for format in ["svg", "png"] {
            let mut args = args.clone();
            args["format"] = json!(format);
            let output = draw("chart/render", args.clone()).await.unwrap();
            assert!(!output.is_error, "{args}");
        }
    }
}

#[tokio::test]
async fn tables_that_make_no_chart_are_refused() {
    let of = |kind: &str, values: Value| json!({"kind": kind, "labels": ["a", "b"], "series": [{"name": "n", "values": values}]});
    for (args, part) in [
        (of("bar", json!([1])), "1 numbers for 2 labels"),
        (of("line", json!([1, 1e16])), "larger unit"),
        (of("pie", json!([0, 0])), "cannot be a pie"),
        (of("pie", json!([-1, 2])), "cannot be a pie"),
    ] {
        let error = draw("chart/render", args).await.unwrap_err();
        assert!(
            error.for_model().contains("/series/0/values") && error.for_model().contains(part),
            "{error:?}"
        );
    }
}
