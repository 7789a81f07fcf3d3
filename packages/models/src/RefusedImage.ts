/** Recognizes how providers report that they refuse an image of the request. Pure. */

/**
 * The codes of the Responses API, such as `invalid_image_url`, name an image, and so do those of others. The tool
 * `image_generation` takes none of the request.
 */
const isCodeOfImage = (code: string): boolean =>
  code === "moderation_blocked" ||
  (/(?:^|_)images?(?:_|$)/i.test(code) && !code.includes("image_generation"))

/** What providers are known to write. */
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

/**
 * What names an image in the text about a bad request: words, and members of the request. Tools such as `view_image` and
 * models such as `gpt-image-1` do not count.
 */
const names: ReadonlyArray<RegExp> = [
  /(?<![\w-])(?:images?|pictures?|photos?|vision|multi-?modal)(?!\w|-\d)/i,
  /\b(?:input_image|image_?(?:url|data|file|bytes|base64)s?)\b/i,
  // Providers that take nothing but text do not always say what they got instead. Groq: "content must be a string"; Qwen:
  // "Unexpected item type in content".
  /\b(?:content|part|item|media|mime) types?\b|\bcontent'? must be a string|\btext[- ]only\b/i,
]

/** Statuses with which providers refuse a request for what it contains. */
const badRequest: ReadonlySet<number> = new Set([400, 412, 422])

/** Statuses that nearly always mean the images: the request is too large, or has a type of data that is not supported. */
const always: ReadonlySet<number> = new Set([413, 415])

/** Statuses with other causes too. OpenRouter refuses an image with 404, llama.cpp with 500. */
const known: ReadonlySet<number> = new Set([404, 500])

/**
 * True when a code or a message means that an image of the request is refused, whatever the status. Only known wordings
 * count: many other failures mention an image.
 */
export const refusesImage = (faultCodes: ReadonlyArray<string>, text: string): boolean =>
  faultCodes.some(isCodeOfImage) || words.some((pattern) => pattern.test(text))

/** A page of a proxy has images of its own. */
const isPage = (body: string): boolean => /^\s*</.test(body)

/**
 * The same for a response of this status. A bad request whose text names an image at all counts: the same request would
 * fail again and again, and where the images are not the cause, later requests merely lack them.
 */
export const statusRefusesImage = (
  status: number,
  faultCodes: ReadonlyArray<string>,
  body: string,
): boolean => {
  if (always.has(status)) return true
  if (badRequest.has(status) && !isPage(body) && names.some((name) => name.test(body))) return true
  return (badRequest.has(status) || known.has(status)) && refusesImage(faultCodes, body)
}
