/** A turn with an image that the provider refuses fails once; the thread goes on without the image. */
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Harness } from "../support/Harness.ts"
import { killed, sharedStore, withProcess } from "../support/Processes.ts"
import { at, started, told, turn } from "../support/Threading.ts"

const bad = "data:image/png;base64,AAAAAA=="
const body = JSON.stringify({
  error: {
    message: "The image data you provided does not represent a valid image.",
    type: "invalid_request_error",
    param: "input",
    code: "invalid_value",
  },
})
const refused = Script.status(400, { body })
const ok = Script.reply(Script.text("fine"))

/** Which turns have ended how, and the images in each request to the provider. */
const outcome = Effect.fnUntraced(function* (app: Harness) {
  const turns = told(app, "turn/completed").map((params) => ({
    status: at(params, "turn", "status"),
    info: at(params, "turn", "error", "codexErrorInfo") ?? null,
    message: at(params, "turn", "error", "message") ?? null,
  }))
  const requests = (yield* app.provider.requests).map(({ body: sent }) =>
    JSON.stringify(sent).includes(bad),
  )
  return { turns, requests }
})

const seeing = { input: [{ type: "image", url: bad }] }

describe("an image that the provider refuses", () => {
  it.effect(
    "fails its turn as a bad request that names it, and no later one, also after a restart",
    () =>
      Effect.gen(function* () {
        const store = sharedStore()
        const threadId = yield* withProcess({ script: [refused, ok], store: store.layer }, (app) =>
          Effect.gen(function* () {
            const id = yield* started(app)
            yield* turn(app, id, "", seeing, "first")
            yield* app.quiet
            yield* turn(app, id, "go on", {}, "second")
            yield* app.quiet
            assert.deepStrictEqual(yield* outcome(app), {
              turns: [
                {
                  status: "failed",
                  info: "badRequest",
                  message: `the model provider refused an image (image/png, 4 bytes); later requests leave it out: unexpected status 400 Bad Request: ${body}`,
                },
                { status: "completed", info: null, message: null },
              ],
              requests: [true, false],
            })
            return id
          }),
        )
        const next = yield* killed(store, threadId)
        yield* withProcess({ script: [ok], store: next.layer }, (app) =>
          Effect.gen(function* () {
            const resumed = yield* app.ask("resume", "thread/resume", { threadId })
            // Clients still show the image.
            assert.include(JSON.stringify(resumed), bad)
            yield* turn(app, threadId, "and on", {}, "third")
            yield* app.quiet
            assert.deepStrictEqual(yield* outcome(app), {
              turns: [{ status: "completed", info: null, message: null }],
              requests: [false],
            })
          }),
        )
      }),
  )
})
