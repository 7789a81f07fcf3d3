/**
 * A process that takes one figure of the core and prints it as JSON: `node --expose-gc CoreFigure.ts <figure>
 * <sizes as JSON>`. Each in a process of its own, so that no figure meets another one's garbage or compiled code.
 */
import * as Effect from "effect/Effect"
import { attach } from "../core/Attach.ts"
import { idle } from "../core/Idle.ts"
import { lifecycle } from "../core/Lifecycle.ts"
import { publish } from "../core/Publish.ts"

const figures = { attach, idle, lifecycle, publish } as const

const [name = "", sizes = "{}"] = process.argv.slice(2)
const figure = Object.entries(figures).find(([key]) => key === name)?.[1] as
  | ((sizes: unknown) => Effect.Effect<unknown>)
  | undefined
if (figure === undefined) throw new Error(`no figure \`${name}\``)
process.stdout.write(JSON.stringify(await Effect.runPromise(figure(JSON.parse(sizes)))))
