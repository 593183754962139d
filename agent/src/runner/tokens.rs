//! How many tokens a text takes, roughly: for budgets, where no tokenizer of the model is at hand.

use domain::ports::ChatMessage;

/// What the frame of a message takes.
const PER_MESSAGE: u64 = 4;
/// What a picture takes.
const PER_IMAGE: u64 = 800;

/// About how many tokens a text takes: four ASCII characters to one, every other character one.
pub fn of(text: &str) -> u64 {
    let (mut ascii, mut other) = (0_u64, 0_u64);
    for c in text.chars() {
        if c.is_ascii() {
            ascii += 1;
        } else {
            other += 1;
        }
    }
    ascii.div_ceil(4) + other
}

/// About how many tokens a message takes.
pub fn of_message(message: &ChatMessage) -> u64 {
    let calls: u64 =
        message.tool_calls.iter().map(|call| of(&call.name) + of(&call.arguments.to_string())).sum();
    PER_MESSAGE + of(&message.content) + calls + PER_IMAGE * message.image_urls.len() as u64
}
