/** Tools that report a command with output, in memory; one that ends or one that does not. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Duration from "effect/Duration"

/** Reports a command with these chunks of output; each starts a pause later. Without an exit code it never ends. */
export const command = (
  chunks: ReadonlyArray<string | Uint8Array>,
  { exitCode, pause = Duration.zero }: { exitCode?: number; pause?: Duration.Duration },
) => {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk,
  )
  return ToolRuntime.simple({
    specs: () => [],
    run: Effect.fnUntraced(function* ({ call_id: callId }, { emit }) {
      const call_id = callId ?? ""
      const call = { call_id, command: ["make", "all"], cwd: "/work" }
      yield* emit({ type: "exec_command_begin", ...call, parsed_cmd: [] })
      for (const chunk of bytes) {
        yield* Effect.sleep(pause)
        yield* emit({
          type: "exec_command_output_delta",
          call_id,
          stream: "stdout",
          chunk: Base64.encode(chunk),
        })
      }
      if (exitCode === undefined) return yield* Effect.never
      const output = bytes.map((chunk) => new TextDecoder().decode(chunk)).join("")
      yield* emit({
        type: "exec_command_end",
        call_id,
        stdout: output,
        stderr: "",
        aggregated_output: output,
        exit_code: exitCode,
        duration: { secs: 0, nanos: 0 },
      })
      return output
    }),
  })
}
