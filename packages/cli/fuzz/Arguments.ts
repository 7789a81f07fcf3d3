/** Reads the arguments of `npm run fuzz`. Pure. */
import { unescapeBytes } from "@colloquy/simulation/fuzz/Escaped"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseArgs } from "node:util"

/** The arguments are invalid; `message` names the argument and what was expected. */
export class ArgumentError extends Schema.TaggedError<ArgumentError>()("ArgumentError", {
  message: Schema.String,
}) {}

/** What the command shall do. */
export type Arguments =
  | { readonly _tag: "Help" }
  | {
      readonly _tag: "Run"
      readonly seed: number
      /** Number of inputs of all edges together. */
      readonly inputs: number
      /** Names of edges, in the order of the list. */
      readonly edges: ReadonlyArray<string>
      /** Number of kinds of violations after which an edge ends. */
      readonly findings: number
    }
  /** Runs exactly these inputs in order on one target. */
  | { readonly _tag: "Replay"; readonly edge: string; readonly inputs: ReadonlyArray<Uint8Array> }

const defaultInputs = 10_000
const defaultFindings = 5

const fail = (message: string) => Result.fail(new ArgumentError({ message }))

const isWhole = (text: string, min: number, max: number): boolean =>
  /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max

const parse = (args: ReadonlyArray<string>) =>
  Result.try({
    try: () =>
      parseArgs({
        args: [...args],
        options: {
          seed: { type: "string" },
          inputs: { type: "string" },
          edge: { type: "string", multiple: true },
          input: { type: "string", multiple: true },
          findings: { type: "string" },
          help: { type: "boolean", short: "h" },
        },
      }).values,
    catch: (fault) =>
      new ArgumentError({ message: fault instanceof Error ? fault.message : String(fault) }),
  })

/**
 * Reads the arguments; fails with the first invalid one.
 *
 * @param known the names of all edges
 */
export const read = (
  args: ReadonlyArray<string>,
  known: ReadonlyArray<string>,
): Result.Result<Arguments, ArgumentError> => {
  const parsed = parse(args)
  if (parsed._tag === "Failure") return Result.fail(parsed.failure)
  const {
    edge: names = [],
    findings = String(defaultFindings),
    help,
    input,
    inputs = String(defaultInputs),
    seed = "0",
  } = parsed.success
  if (help === true) return Result.succeed({ _tag: "Help" })
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    return fail(`--edge ${unknown}: expected one of ${known.join(", ")}`)
  }
  if (!isWhole(seed, 0, 0xffff_ffff)) {
    return fail(`--seed ${seed}: expected an integer from 0 to 4294967295`)
  }
  if (!isWhole(inputs, 1, 1_000_000_000)) {
    return fail(`--inputs ${inputs}: expected an integer from 1 to 1000000000`)
  }
  if (!isWhole(findings, 1, 1_000)) {
    return fail(`--findings ${findings}: expected an integer from 1 to 1000`)
  }
  if (input !== undefined) {
    const [edge, ...others] = names
    return edge === undefined || others.length > 0
      ? fail("--input: expected exactly one --edge beside it")
      : Result.succeed({ _tag: "Replay", edge, inputs: input.map(unescapeBytes) })
  }
  const edges = names.length === 0 ? known : known.filter((name) => names.includes(name))
  return Result.succeed({
    _tag: "Run",
    seed: Number(seed),
    inputs: Number(inputs),
    edges,
    findings: Number(findings),
  })
}
