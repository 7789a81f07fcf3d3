/** Takes a figure in a process of its own: it starts with an empty heap and a garbage collector it may call. */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const entry = fileURLToPath(new URL("./peers/TakeFigure.ts", import.meta.url))

/** A process that fails is a defect; its stderr is in the message. The process does not outlive an interrupt. */
export const take = <Figure>(name: string, sizes: object) =>
  Effect.callback<Figure>((resume) => {
    const child = execFile(
      process.execPath,
      ["--expose-gc", entry, name, JSON.stringify(sizes)],
      (error, stdout) =>
        resume(
          error === null ? Effect.sync(() => JSON.parse(stdout) as Figure) : Effect.die(error),
        ),
    )
    return Effect.sync(() => {
      child.kill("SIGKILL")
    })
  })
