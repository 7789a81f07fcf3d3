/**
 * `npm run fuzz -- --seed S --inputs N --edge NAME`: attacks the decoders of the program with inputs made from valid
 * ones. Exit codes: 0 no law was broken, 1 a law was broken, 2 the arguments are invalid.
 */
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { describeFinding, header, line, total } from "@colloquy/simulation/fuzz/Report"
import { type EdgeReport, runEdge, runInputs } from "@colloquy/simulation/fuzz/Runner"
import { describeDefect } from "@colloquy/simulation/fuzz/VirtualMachine"
import * as Effect from "effect/Effect"
import { type Arguments, read } from "./Arguments.ts"
import { edges } from "./edges/Edges.ts"

const print = (text: string) => process.stdout.write(`${text}\n`)

const help = (all: ReadonlyArray<Edge>) =>
  [
    "npm run fuzz -- [--seed S] [--inputs N] [--edge NAME]... [--input TEXT]... [--findings K]",
    "",
    "  --seed S      an integer; the same seed gives the same run. Default 0",
    "  --inputs N    inputs of all edges together. Default 10000",
    "  --edge NAME   only this edge; may be given several times. Default: all",
    "  --input TEXT  only this input, escaped as the report prints it; several run in order on one target",
    "  --findings K  an edge ends after so many kinds of violations. Default 5",
    "",
    "Edges:",
    ...all.map(({ name, summary }) => `  ${name.padEnd(28)}${summary}`),
  ].join("\n")

/** Collects faults outside of fibers; a fault is attributed to the input that runs when the faults are read. */
const processFaults = () => {
  const faults: Array<string> = []
  process.on("uncaughtException", (error) => faults.push(`uncaught ${describeDefect(error)}`))
  process.on("unhandledRejection", (error) => faults.push(`unhandled ${describeDefect(error)}`))
  return () => faults.splice(0)
}

/** Measures the bytes of the heap after a garbage collection; undefined when Node was started without `--expose-gc`. */
const heapBytes = (() => {
  const { gc } = globalThis
  if (gc === undefined) return undefined
  return Effect.promise(async () => {
    // The second collection frees the objects that the first one finalized.
    await gc({ execution: "async" })
    await gc({ execution: "async" })
    return process.memoryUsage().heapUsed
  })
})()

const run = (
  all: ReadonlyArray<Edge>,
  { edges: names, findings, inputs, seed }: Extract<Arguments, { _tag: "Run" }>,
) =>
  Effect.gen(function* () {
    const chosen = all.filter(({ name }) => names.includes(name))
    const takeFaults = processFaults()
    const reports: Array<EdgeReport> = []
    print(header)
    for (const [at, edge] of chosen.entries()) {
      const share = Math.floor(inputs / chosen.length) + (at < inputs % chosen.length ? 1 : 0)
      const report = yield* runEdge(edge, {
        seed,
        inputs: share,
        takeFaults,
        maxFindings: findings,
        ...(heapBytes === undefined ? {} : { heapBytes }),
      })
      reports.push(report)
      print(line(report))
      for (const finding of report.findings) print(describeFinding(edge.name, finding, seed))
    }
    print(total(reports))
    return reports.some(({ violations }) => violations > 0) ? 1 : 0
  })

const replay = (
  all: ReadonlyArray<Edge>,
  { edge, inputs }: Extract<Arguments, { _tag: "Replay" }>,
) =>
  Effect.gen(function* () {
    const found = all.find(({ name }) => name === edge)
    const violation = found === undefined ? undefined : yield* runInputs(found, inputs)
    print(violation === undefined ? "no law is broken" : `${violation.law} ${violation.message}`)
    return violation === undefined ? 0 : 1
  })

const main = (): Effect.Effect<number> => {
  const all = edges()
  const given = read(
    process.argv.slice(2),
    all.map(({ name }) => name),
  )
  if (given._tag === "Failure") {
    process.stderr.write(`${given.failure.message}\n`)
    return Effect.succeed(2)
  }
  switch (given.success._tag) {
    case "Help":
      print(help(all))
      return Effect.succeed(0)
    case "Run":
      return run(all, given.success)
    case "Replay":
      return replay(all, given.success)
  }
}

process.exitCode = await Effect.runPromise(main())
