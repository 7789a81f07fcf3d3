/** What the demo says around the conversation: the facts before it, and what to try after it. Text only. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { withoutUserAndQuery } from "../config/Redaction.ts"
import { colored, plain } from "./Style.ts"

export interface FrameOptions {
  readonly color: boolean
}

const styleOf = (options: FrameOptions) => (options.color ? colored : plain)

const fact = (options: FrameOptions, name: string, value: string) =>
  `  ${styleOf(options).dim(name.padEnd(8))}${value}\n`

const answeredBy = ({ model, provider }: ConversationSettings): string =>
  provider.wire === "offline"
    ? `${model}, built in: needs no key and no network`
    : `${model} of ${provider.name}, ${withoutUserAndQuery(provider.baseUrl)}`

export const opening = (
  options: FrameOptions,
  facts: {
    readonly version: string
    readonly pid: number | undefined
    readonly settings: ConversationSettings
  },
): string =>
  [
    `${styleOf(options).bold("Colloquy")} ${facts.version}\n\n`,
    fact(options, "server", `colloquy mcp, process ${facts.pid ?? "unknown"}, over stdio`),
    fact(options, "model", answeredBy(facts.settings)),
  ].join("")

export const thread = (options: FrameOptions, id: string): string =>
  `${fact(options, "thread", id)}\n`

export const closing = (options: FrameOptions, settings: ConversationSettings): string => {
  const style = styleOf(options)
  const tries: ReadonlyArray<readonly [command: string, why: string]> = [
    ...(settings.provider.wire === "offline"
      ? ([["OPENAI_API_KEY=… colloquy demo", "the same with a real model"]] as const)
      : []),
    ["colloquy demo -c model_provider=oss", "a local server of open models (Ollama)"],
    ["colloquy mcp", "the server itself, for any MCP client"],
    ["colloquy help", "every option"],
  ]
  const width = Math.max(...tries.map(([command]) => command.length))
  const lines = tries.map(
    ([command, why]) => `  ${style.accent(command.padEnd(width))}  ${style.dim(why)}\n`,
  )
  return `${style.good("All turns completed.")} Try next:\n\n${lines.join("")}`
}
