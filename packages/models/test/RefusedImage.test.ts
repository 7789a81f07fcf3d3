import { assert, describe, it } from "@effect/vitest"
import * as ChatWire from "../src/ChatWire.ts"
import { statusFailure } from "../src/internal/failures/StatusFailure.ts"
import type { WireDecoder } from "../src/internal/WireDecoder.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"

const wires = ["responses", "chat"] as const

/** A body as OpenAI and most others write it. */
const body = (message: string, code: unknown = null, param: unknown = "input") =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param, code } })

const refused: ReadonlyArray<readonly [number, string]> = [
  [400, body("Invalid image.", "invalid_image")],
  [400, body("The file is empty.", "empty_image_file")],
  [400, body("Error while downloading https://example.com/a.png.", "invalid_image_url")],
  [
    400,
    body(
      "The image data you provided does not represent a valid image. Please check your input and try again with one of the following image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].",
      "invalid_value",
    ),
  ],
  [400, body("You uploaded an unsupported image. Please make sure your image is valid.")],
  [400, body("Invalid MIME type. Only image types are supported.", "invalid_image_format")],
  [
    400,
    body(
      "Invalid 'input[1].content[1].image_url'. Expected a base64-encoded data URL with an image MIME type, but got unsupported MIME type 'image/bmp'.",
      "invalid_value",
    ),
  ],
  [400, body("Invalid content type. image_url is only supported by certain models.")],
  [
    400,
    `{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}`,
  ],
  [
    400,
    body("messages.1.content.1.image.source.base64: image exceeds 5 MB maximum: 7 bytes > 5 bytes"),
  ],
  [400, body("messages.2.content.0: Image does not match the provided media type image/png")],
  [400, body("image dimensions exceed max allowed size: 8000 pixels")],
  [400, `[{"error":{"code":400,"message":"Provided image is not valid.","status":"INVALID"}}]`],
  [
    400,
    `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"message\\":\\"Could not process image\\"}"}}}`,
  ],
  [
    400,
    `{"object":"error","message":"At most 0 image(s) may be provided in one prompt.","code":400}`,
  ],
  [404, `{"error":{"message":"No endpoints found that support image input","code":404}}`],
  [413, "<html><title>413 Request Entity Too Large</title></html>"],
  [415, body("unsupported image type")],
  [422, "Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`"],
  [
    500,
    `{"error":{"code":500,"message":"image input is not supported by this server","type":"server_error"}}`,
  ],
  [400, `{"error":"this model is missing data required for image input"}`],
  [400, `{"message":"The model doesn't support the image content block that you provided."}`],
  [400, `{"detail":"Invalid base64 image_url."}`],
  [400, body("Your input image may contain content that is not allowed.", "moderation_blocked")],
  [400, body("Your request was rejected by the safety system.", "moderation_blocked")],
  [400, body("Rejected.", "unsupported_image_encoding")],
  [400, "image rejected"],
  [400, `{"error":"Pictures cannot be read."}`],
  [400, body("some/model has no vision capability")],
  [400, body("some-model is not multi-modal")],
  [400, body("Invalid value: 'input_image'. Supported values are: 'input_text'.")],
  [400, body("messages[0].content must be a string")],
  [400, body("Unexpected item type in content.")],
  [400, body("This model is text-only.")],
  [
    412,
    `{"code":"The system is not in a state required","error":"Unsupported content-type encountered when downloading image."}`,
  ],
  [415, body("Unsupported media type")],
  [415, ""],
  [422, `{"detail":[{"msg":"Value error, Image content is not supported by this model"}]}`],
]

const others: ReadonlyArray<readonly [number, string]> = [
  [400, body("Unsupported parameter: 'max_tokens'.", "unsupported_parameter")],
  [
    400,
    body("Invalid value: 'image_generation'. Supported values are: 'function'.", "invalid_value"),
  ],
  [400, body("Invalid 'input[3].call_id': string too long.", "string_above_max_length")],
  [400, body("Invalid schema for function 'view_image': 'path' is required.")],
  [400, body("The requested model 'gpt-image-1' does not exist.", "model_not_found")],
  [400, body("The model `some-vision` does not exist.", "model_not_found")],
  [400, body("The model `image-01` does not exist.", "model_not_found")],
  [400, body("Unknown parameter: 'revision'.", "unknown_parameter")],
  [400, body("No.", "image_generation_user_error")],
  [400, `<html><head><link rel="icon" type="image/svg+xml"></head><body>Bad Request</body></html>`],
  [400, ""],
  [403, body("The key may not be used with image input.")],
  [404, body("The model of the image does not exist.")],
  [412, body("Precondition failed.")],
  [422, body("Unprocessable.")],
  [401, body("Invalid image.", "invalid_image")],
  [404, body("No endpoints found for some/model.")],
  [429, body("Invalid image.", "invalid_image")],
  [500, body("The server had an error.", "server_error")],
  [503, body("Could not process image")],
]

const reasonOf = (wire: (typeof wires)[number], status: number, text: string) =>
  statusFailure(wire, { status, retryAfter: undefined, body: text }, 0)

/** How the stream of one event ends. */
const failureOf = (decoder: WireDecoder, event: unknown) => {
  const error = decoder.event(JSON.stringify(event), []).error ?? decoder.end([]).error
  return { reason: error?.reason, retryable: error?.retryable }
}

describe("an image that the provider refuses", () => {
  it.each(refused)("is recognized: %i %s", (status, text) => {
    for (const wire of wires) {
      const { error, repeats } = reasonOf(wire, status, text)
      assert.strictEqual(error.reason, "Image")
      assert.isFalse(error.retryable)
      assert.strictEqual(repeats, 0)
      assert.include(error.message, text)
    }
  })

  it.each(others)("is not seen in %i %s", (status, text) => {
    for (const wire of wires) {
      assert.notStrictEqual(reasonOf(wire, status, text).error.reason, "Image")
    }
  })

  it("is distinguished from a request that exceeds the context window", () => {
    const text = body("This model's maximum context length is 8 tokens.")
    assert.strictEqual(reasonOf("chat", 413, text).error.reason, "ContextWindow")
  })

  it("is recognized in a stream that had started, on either wire", () => {
    const failed = (code: string, message: string) =>
      failureOf(ResponsesWire.makeDecoder(), {
        type: "response.failed",
        response: { error: { code, message } },
      })
    const ends = [
      failed("image_parse_error", "No."),
      failed("invalid_prompt", "The image data you provided does not represent a valid image."),
      failureOf(ChatWire.makeDecoder(), { error: { message: "Invalid image data", code: 400 } }),
      failureOf(ChatWire.makeDecoder(), { error: { message: "no", code: "invalid_image" } }),
    ]
    ends.push(failed("invalid_prompt", "No picture may be sent."))
    for (const end of ends) assert.deepStrictEqual(end, { reason: "Image", retryable: false })
    assert.deepStrictEqual(failed("server_error", "No."), { reason: "Stream", retryable: true })
  })
})
