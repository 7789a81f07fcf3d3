/** Checks the tools that a client defines, before a conversation is created with them. */
import { compile } from "@colloquy/json-schema/SchemaCheck"
import * as Effect from "effect/Effect"
import { BadClientTool, type ClientTool, offeredName } from "../ClientTool.ts"
import type { ToolRuntime } from "../ToolRuntime.ts"

/** What providers accept as the name of a function. */
const namePattern = /^[A-Za-z0-9_-]{1,64}$/

/** More than any provider accepts in one request. */
const maxTools = 512

/** As much as a server may describe one of its tools with. */
const maxDescriptionChars = 16 * 1024

type Field = BadClientTool["field"]
type Fault = readonly [field: Field, problem: string]

const nameFault = (field: Field, name: string): Fault | undefined =>
  namePattern.test(name)
    ? undefined
    : [field, "expected 1 to 64 characters of `A` to `Z`, `a` to `z`, `0` to `9`, `_` and `-`"]

const schemaProblem = (schema: ClientTool["inputSchema"]): string | undefined => {
  if (schema["type"] !== "object") return 'expected a schema of `type: "object"`'
  const compiled = compile(schema)
  return compiled._tag === "Failure" ? compiled.failure : undefined
}

/** What is wrong with the definition itself. */
const ownFault = (tool: ClientTool): Fault | undefined => {
  const { description, inputSchema, name, namespace } = tool
  const named =
    nameFault("name", name) ??
    (namespace === undefined ? undefined : nameFault("namespace", namespace))
  if (named !== undefined) return named
  if (offeredName(tool).length > 64) {
    return ["namespace", "with the name of the tool it has more than 62 characters"]
  }
  if (description.length > maxDescriptionChars) {
    return ["description", `expected at most ${maxDescriptionChars} characters`]
  }
  const problem = schemaProblem(inputSchema)
  return problem === undefined ? undefined : ["inputSchema", problem]
}

/** Fails with the first definition that cannot be used, by itself or beside the others and the tools of this process. */
export const checkClientTools = Effect.fnUntraced(function* (
  tools: ReadonlyArray<ClientTool>,
  { isTaken = () => Effect.succeed(false) }: Pick<ToolRuntime["Service"], "isTaken">,
): Effect.fn.Return<void, BadClientTool> {
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    const fail = ([field, problem]: Fault) => new BadClientTool({ index, field, problem })
    const fault = ownFault(tool)
    if (fault !== undefined) return yield* fail(fault)
    const name = offeredName(tool)
    if (index >= maxTools) return yield* fail(["name", `expected at most ${maxTools} tools`])
    if (names.has(name)) {
      return yield* fail([
        "name",
        `another tool has the name \`${name}\`, expected different names`,
      ])
    }
    names.add(name)
    if (yield* isTaken(name)) {
      return yield* fail(["name", `\`${name}\` is a tool of this program, expected another name`])
    }
  }
})
