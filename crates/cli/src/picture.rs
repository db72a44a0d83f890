//! The common parts of figures: fonts and colours, and the files that they are written to, SVG and PNG.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;

use crate::context::Context;
use crate::failure::Usage;
use crate::lettering::{fitted, missing_letters};
use crate::output::{print, write_file};
use crate::png::png;

pub(crate) const WIDTH: u32 = 1000;
/// Viewers of SVG take letters that a font lacks from the next; the last are those of most scripts on most systems.
const FONT: &str = "Helvetica, Arial, Noto Sans, Noto Sans CJK JP, Arial Unicode MS, sans-serif";
pub(crate) const INK: RGBColor = RGBColor(45, 52, 64);
pub(crate) const FAINT: RGBColor = RGBColor(112, 120, 133);
pub(crate) const GRID: RGBColor = RGBColor(229, 232, 237);
/// One for each model, told apart by people who do not see red and green, too.
const COLOURS: [RGBColor; 7] = [
    RGBColor(31, 107, 184),
    RGBColor(213, 94, 0),
    RGBColor(0, 140, 110),
    RGBColor(190, 90, 160),
    RGBColor(150, 120, 20),
    RGBColor(86, 180, 233),
    RGBColor(120, 60, 40),
];

/// The font that measures texts and draws them in a PNG: DejaVu Sans with the letters of Latin, Greek and Cyrillic.
const LETTERS: &[u8] = include_bytes!("../assets/dejavu-sans.ttf");

/// The endings of files that pictures are written to.
const ENDINGS: [&str; 2] = ["svg", "png"];

pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A picture that can be drawn in pixels as in lines.
pub(crate) trait Picture {
    /// Width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// The texts of others in it, which may be of any script.
    fn names(&self) -> Vec<&str>;

    /// Draws it on a white area of its size.
    fn draw<B>(&self, area: &DrawingArea<B, Shift>) -> Drawn
    where
        B: DrawingBackend<ErrorType: 'static>;

    /// The picture as the text of an SVG file.
    fn svg(&self) -> anyhow::Result<String> {
        let mut svg = String::new();
        let backend = SVGBackend::with_string(&mut svg, self.size());
        draw_on_white(self, &backend.into_drawing_area()).map_err(cannot_draw)?;
        Ok(svg.replace(|character| !is_xml(character), "\u{fffd}"))
    }

    /// The picture as the bytes of a PNG file.
    fn png(&self) -> anyhow::Result<Vec<u8>> {
        let size = self.size();
        let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
        let backend = BitMapBackend::with_buffer(&mut pixels, size);
        draw_on_white(self, &backend.into_drawing_area()).map_err(cannot_draw)?;
        png(&pixels, size)
    }

    /// Writes the file that the path names by its ending; for `-` as SVG to standard output. Tells `log` of letters that a PNG cannot
    /// show.
    fn write(&self, path: &Path, context: &'static Context) -> anyhow::Result<()> {
        if is_stdout(path) {
            return print(self.svg()?);
        }
        let missing = missing_letters(LETTERS, self.names().into_iter());
        if has_ending(path, "png") && !missing.is_empty() {
            let shown: String = missing.iter().take(12).collect();
            context.warning(&format!(
                "{}: the font of pictures in pixels has no letters such as {shown}, and draws boxes for them; name a file that ends in \
                 .svg, which viewers draw with the fonts of their system",
                path.display()
            ));
        }
        let picture = if has_ending(path, "png") { self.png()? } else { self.svg()?.into_bytes() };
        write_file(context, path, &picture)
    }
}

fn draw_on_white<P, B>(picture: &P, area: &DrawingArea<B, Shift>) -> Drawn
where
    P: Picture + ?Sized,
    B: DrawingBackend<ErrorType: 'static>,
{
    let _ = register_font(FONT, FontStyle::Normal, LETTERS);
    area.fill(&WHITE)?;
    picture.draw(area)?;
    area.present()?;
    Ok(())
}

/// Title and subtitle above the rest of the area, which is returned.
pub(crate) fn titled<B>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    subtitle: &str,
) -> Result<DrawingArea<B, Shift>, Box<dyn std::error::Error>>
where
    B: DrawingBackend<ErrorType: 'static>,
{
    let (head, body) = area.split_vertically(head_height(title, subtitle));
    let mut y = 14;
    for line in title_lines(title) {
        head.draw(&Text::new(line, (24, y), text(TITLE, &INK)))?;
        y += 27;
    }
    for line in subtitle_lines(subtitle) {
        head.draw(&Text::new(line, (24, y), text(SUBTITLE, &FAINT)))?;
        y += 19;
    }
    Ok(body)
}

const TITLE: f64 = 23.0;
const SUBTITLE: f64 = 15.0;

/// The pixels of titles.
pub(crate) fn head_height(title: &str, subtitle: &str) -> u32 {
    18 + 27 * title_lines(title).len() as u32 + 19 * subtitle_lines(subtitle).len() as u32
}

fn title_lines(title: &str) -> Vec<String> {
    fitted(title, TITLE, f64::from(WIDTH) - 48.0, 3)
}

fn subtitle_lines(subtitle: &str) -> Vec<String> {
    fitted(subtitle, SUBTITLE, f64::from(WIDTH) - 48.0, 3)
}

/// Whether a path stands for standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a flag names a file that pictures are written to.
///
/// # Errors
/// If its ending is another.
pub(crate) fn check_ending(flag: &str, path: &Path) -> anyhow::Result<()> {
    if path.extension().is_none() || ENDINGS.iter().any(|ending| has_ending(path, ending)) {
        return Ok(());
    }
    let message = format!(
        "{flag} {}: figures are written as SVG or PNG; name a file that ends in .svg or .png",
        path.display()
    );
    Err(Usage(message).into())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

fn cannot_draw(error: Box<dyn std::error::Error>) -> anyhow::Error {
    anyhow::anyhow!("cannot draw the figure: {error}")
}

/// Whether XML 1.0 allows a character at all (section 2.2): ids may have any.
pub(crate) fn is_xml(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        _ => !character.is_ascii_control() || character == '\u{7f}',
    }
}

pub(crate) fn text(size: f64, color: &'static RGBColor) -> TextStyle<'static> {
    TextStyle::from((FONT, size).into_font()).color(color)
}

pub(crate) fn colour(model: usize) -> RGBColor {
    COLOURS[model % COLOURS.len()]
}
