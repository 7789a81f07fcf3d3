/** What the offline model answers without a script: a pure function of the history. */
import type { ModelRequest } from "@colloquy/core/ModelClient"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { OfflineStep } from "../OfflineScript.ts"

const maxQuoteChars = 200

/**
 * Start of every answer that the rules generate, so that no reader takes it for the answer of a
 * real model.
 */
const composed = (text: string): OfflineStep => ({ text: `Offline model: ${text}` })

const quote = (text: string): string => {
  const flat = text.trim().replaceAll(/\s+/g, " ")
  return flat.length <= maxQuoteChars ? flat : `${flat.slice(0, maxQuoteChars)}…`
}

/** The JSON text that the shell tool returns to the model. */
const ShellOutput = Schema.fromJsonString(
  Schema.Struct({
    output: Schema.String,
    metadata: Schema.optional(Schema.Struct({ exit_code: Schema.optional(Schema.Int) })),
  }),
)
const decodeShellOutput = Schema.decodeUnknownOption(ShellOutput)

const afterTool = (output: string): OfflineStep => {
  const shell = Option.getOrUndefined(decodeShellOutput(output))
  const code = shell?.metadata?.exit_code
  const said = quote(shell?.output ?? output)
  const failed = code === undefined || code === 0 ? "" : ` with exit code ${code}`
  return composed(
    said === ""
      ? `the tool finished${failed} and said nothing.`
      : `the tool finished${failed} and said: ${said}`,
  )
}

const call = (name: string, args: unknown): OfflineStep => ({
  tool_call: { name, arguments: args },
})

const plan = (text: string): OfflineStep =>
  call("update_plan", {
    plan: text
      .split(";")
      .map((step) => step.trim())
      .filter((step) => step !== "")
      .map((step, n) => ({ step, status: n === 0 ? "in_progress" : "pending" })),
  })

/** `NAME ARGUMENTS`, where the arguments are a JSON text; none are an empty object. */
const callOf = (text: string): OfflineStep => {
  const [, name = "", args = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(text) ?? []
  return call(name, args.trim() === "" ? {} : args)
}

/** The directives that a user message may contain; the first that matches applies. */
const directives: ReadonlyArray<readonly [RegExp, (rest: string) => OfflineStep]> = [
  [/^say\s([\s\S]*)$/i, (text) => ({ text: text.trim() })],
  [/^run:([\s\S]*)$/i, (text) => call("shell", { command: ["bash", "-lc", text.trim()] })],
  // White space is significant in a patch.
  [/^patch:\s?([\s\S]*)$/i, (text) => call("apply_patch", { input: text })],
  [/^plan:([\s\S]*)$/i, plan],
  [/^call:([\s\S]*)$/i, callOf],
]

const answerTo = (model: string, text: string): OfflineStep => {
  const message = text.trimStart()
  for (const [pattern, step] of directives) {
    const rest = pattern.exec(message)?.[1]
    if (rest !== undefined) return step(rest)
  }
  return {
    text: `This is the offline model \`${model}\`. It received: ${quote(text)}`,
  }
}

/** How the core asks for a summary of the history. */
const summaryTrigger = "Start Summarization"

const textOf = (item: ResponseItem | undefined): string =>
  item?.type === "message"
    ? item.content.map((part) => (part.type === "input_image" ? "" : part.text)).join("")
    : ""

/**
 * The answer to a request for a summary, which scripts do not contain; undefined for any other
 * request.
 */
export const offlineSummary = ({
  input,
  tools,
}: Pick<ModelRequest, "input" | "tools">): ReadonlyArray<OfflineStep> | undefined => {
  // A turn has tools: there the same text is an ordinary message.
  if (tools.length > 0 || textOf(input.at(-1)) !== summaryTrigger) return undefined
  const said = quote(
    textOf(input.findLast((item) => item.type === "message" && item.role === "assistant")),
  )
  const last = said === "" ? "nothing was answered yet" : `the last answer was: ${said}`
  return [composed(`${input.length - 1} items of history; ${last}`)]
}

/** The steps that answer the last user message or tool output of the history. */
export const offlineAnswer = (
  model: string,
  input: ReadonlyArray<ResponseItem>,
): ReadonlyArray<OfflineStep> => {
  const last = input.findLast(
    (item) =>
      item.type === "function_call_output" ||
      item.type === "custom_tool_call_output" ||
      (item.type === "message" && item.role === "user"),
  )
  if (last === undefined) return [answerTo(model, "")]
  if (last.type !== "message") return "output" in last ? [afterTool(last.output)] : []
  return [answerTo(model, textOf(last))]
}
