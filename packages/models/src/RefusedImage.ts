/** Recognizes how providers report that they refuse an image of the request. Pure. */

/** Codes of the Responses API, of errors in its responses and in its streams. */
const codes = new Set([
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "invalid_image_mode",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "image_file_too_large",
  "image_file_not_found",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
])

const words: ReadonlyArray<RegExp> = [
  // OpenAI: "… does not represent a valid image", "Invalid image data."
  /\b(?:in)?valid image\b/i,
  // OpenAI: "You uploaded an unsupported image", "Only image types are supported"; llama.cpp:
  // "image input is not supported"; Gemini: "Provided image is not valid".
  /unsupported image|only image types|\bimages?(?: inputs?| types?| formats?)? (?:is|are) (?:not (?:valid|supported)|invalid|unsupported)/i,
  // OpenRouter: "No endpoints found that support image input"; others: "does not support images".
  /\bsupports? (?:for )?(?:images?\b|image_url|vision)/i,
  // Anthropic: "Could not process image"; Gemini: "Unable to process input image"; vLLM: "cannot
  // identify image file", "Failed to load image".
  /(?:could not|cannot|unable to|fail(?:ed|ure)? to|error) (?:process|decode|parse|read|load|open|identify|fetch|download)(?:ing)? (?:the |an? |input )*image/i,
  // Anthropic: "image exceeds 5 MB maximum", "image dimensions exceed max allowed size", "Image does
  // not match the provided media type".
  /\bimages?(?: file| data| size| dimensions?)? (?:exceeds?\b|(?:is |are )?too (?:large|big|small)|does not match)/i,
  // vLLM: "At most 0 image(s) may be provided", "… is not a multimodal model".
  /too many images|at most \d+ images?\b|not a multimodal model/i,
  // A part of a message that the provider does not know, or whose address it cannot use.
  /(?:invalid '[^']*|unknown variant `|content part type: \\*")image_url|image_url is only supported/i,
]

/** Statuses with which providers refuse an image; llama.cpp does so with 500. */
const statuses: ReadonlySet<number> = new Set([400, 404, 415, 422, 500])

/** True when a code or a message means that an image of the request is refused. */
export const refusesImage = (faultCodes: ReadonlyArray<string>, text: string): boolean =>
  faultCodes.some((code) => codes.has(code)) || words.some((pattern) => pattern.test(text))

/** The same for a response of this status. 413 means that the request is too large, nearly always because of its images. */
export const statusRefusesImage = (
  status: number,
  faultCodes: ReadonlyArray<string>,
  body: string,
): boolean => status === 413 || (statuses.has(status) && refusesImage(faultCodes, body))
