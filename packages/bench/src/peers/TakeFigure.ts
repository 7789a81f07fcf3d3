/**
 * A process that takes one figure and prints it as JSON: `node --expose-gc TakeFigure.ts <figure> <sizes as JSON>`. Each
 * figure has a separate process, without garbage and compiled code of another, and loads only its own modules.
 */
import * as Effect from "effect/Effect"

const figures = {
  allocated: async () => (await import("../core/Allocated.ts")).allocated,
  append: async () => (await import("../store/Append.ts")).append,
  attach: async () => (await import("../core/Attach.ts")).attach,
  commands: async () => (await import("../exec/Commands.ts")).commands,
  flood: async () => (await import("../exec/Flood.ts")).flood,
  idle: async () => (await import("../core/Idle.ts")).idle,
  lifecycle: async () => (await import("../core/Lifecycle.ts")).lifecycle,
  list: async () => (await import("../store/List.ts")).list,
  output: async () => (await import("../exec/Output.ts")).output,
  patch: async () => (await import("../exec/Patch.ts")).patch,
  periodic: async () => (await import("../core/Periodic.ts")).periodic,
  publish: async () => (await import("../core/Publish.ts")).publish,
  resume: async () => (await import("../store/Resume.ts")).resume,
  retained: async () => (await import("../core/Retained.ts")).retained,
  sequential: async () => (await import("../core/Sequential.ts")).sequential,
  shellCall: async () => (await import("../exec/ShellCall.ts")).shellCall,
  sqlAppend: async () => (await import("../store/SqlAppend.ts")).sqlAppend,
  turnDiff: async () => (await import("../exec/TurnDiff.ts")).turnDiff,
} as const

const [name = "", sizes = "{}"] = process.argv.slice(2)
const load = Object.entries(figures).find(([key]) => key === name)?.[1] as
  | (() => Promise<(sizes: unknown) => Effect.Effect<unknown>>)
  | undefined
if (load === undefined) throw new Error(`no figure \`${name}\``)
const figure = await load()
process.stdout.write(JSON.stringify(await Effect.runPromise(figure(JSON.parse(sizes)))))
