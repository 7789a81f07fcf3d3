/** The texts around the demo's conversation: the facts before it, and the suggestions after it. No output. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { withoutUserAndQuery } from "../config/Redaction.ts"
import { colored, plain } from "./Style.ts"

/** How the texts are written. */
export interface FrameOptions {
  /** Uses escape sequences for colours. */
  readonly color: boolean
}

const styleOf = (options: FrameOptions) => (options.color ? colored : plain)

const fact = (options: FrameOptions, name: string, value: string) =>
  `  ${styleOf(options).dim(name.padEnd(8))}${value}\n`

const modelText = ({ model, provider }: ConversationSettings): string =>
  provider.wire === "offline"
    ? `${model}, built in, needs no key and no network`
    : `${model} of ${provider.name}, ${withoutUserAndQuery(provider.baseUrl)}`

/** The first lines: the version, the server's process and the model. */
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
    fact(options, "model", modelText(facts.settings)),
  ].join("")

/** The line with the thread id, which ends the facts. */
export const thread = (options: FrameOptions, id: string): string =>
  `${fact(options, "thread", id)}\n`

/** The last lines: commands to try next. */
export const closing = (options: FrameOptions, settings: ConversationSettings): string => {
  const style = styleOf(options)
  const tries: ReadonlyArray<readonly [command: string, why: string]> = [
    ...(settings.provider.wire === "offline"
      ? ([["OPENAI_API_KEY=… colloquy demo", "the same conversation with a real model"]] as const)
      : []),
    ["colloquy demo -c model_provider=oss", "the same with a local model server (Ollama)"],
    ["colloquy mcp", "the server, for any MCP client"],
    ["colloquy help", "every option"],
  ]
  const width = Math.max(...tries.map(([command]) => command.length))
  const lines = tries.map(
    ([command, why]) => `  ${style.accent(command.padEnd(width))}  ${style.dim(why)}\n`,
  )
  return `${style.good("All turns completed.")} Try next:\n\n${lines.join("")}`
}
