/** The provider as a separate process; it ends with its scope (L8). */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("../peers/Provider.ts", import.meta.url))

/** Starts it. `marks` returns when each request had come and was answered, if `isMarking`, as `<ns> <ns>`. */
export const make = Effect.fnUntraced(function* (deltas: number, isMarking = false) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [entry, String(deltas)], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, ...(isMarking ? { COLLOQUY_BENCH_MARKS: "stdout" } : {}) },
      }),
    ),
    (started) => Effect.sync(() => started.stdin.end()),
  )
  let text = ""
  const port = yield* Effect.callback<string>((resume) => {
    child.once("close", () => resume(Effect.die(new Error("the provider ended"))))
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8")
      if (text.includes("\n")) resume(Effect.succeed(text.slice(0, text.indexOf("\n"))))
    })
  })
  const marks = () => text.trimEnd().split("\n").slice(1)
  return { baseUrl: `http://127.0.0.1:${port}/v1`, marks }
})
