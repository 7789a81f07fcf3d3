/**
 * The command `config`: prints every effective key as TOML, each with its origin. Exit codes: 0 printed, 1 the configuration
 * cannot be read or is not valid, with the same error on stderr as the command `mcp` prints.
 */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Launch } from "../args/Args.ts"
import { linesOf } from "../config/ConfigLines.ts"
import { type EffectiveKey, effectiveConfig, type Sources } from "../config/EffectiveConfig.ts"
import { allKeys } from "../config/AllKeys.ts"
import * as Environment from "../machine/Environment.ts"
import * as Startup from "../server/Startup.ts"
import { jsonText } from "../terminal/JsonText.ts"

const bare = /^[A-Za-z0-9_-]+$/

const nameText = (name: string): string => (bare.test(name) ? name : jsonText(name))

/** A value on one line. Strings, numbers and arrays of JSON are also valid TOML. */
const valueText = (value: unknown): string => {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`
  if (!ConfigTree.isTable(value)) return jsonText(value)
  const members = Object.entries(value).map(
    ([name, one]) => `${nameText(name)} = ${valueText(one)}`,
  )
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`
}

/** Column of the origin, for values that are not longer. */
const originColumn = 56

/** The printed line of a key. */
export const lineOf = ({ path, value, origin }: EffectiveKey): string =>
  `${`${path.map(nameText).join(".")} = ${valueText(value)}`.padEnd(originColumn)} # ${origin}\n`

/** Why `openai` is the provider if none is configured. */
const openaiOrigin = (
  { missingProvider }: Startup.Startup,
  environment: Environment.Environment,
): string => {
  if (environment.openaiConfigured) return "OPENAI_API_KEY, OPENAI_BASE_URL or auth.json is present"
  const original = Environment.originalLogin(environment)
  return missingProvider === undefined && original !== undefined
    ? `the login of codex in ${original}`
    : "default, but no OpenAI key is set and no login is stored"
}

const chosenDefaults = (
  startup: Startup.Startup,
  environment: Environment.Environment,
): Sources["chosen"] => {
  const { missingProvider, settings } = startup
  return {
    model_provider: {
      value: settings.provider.id,
      origin:
        missingProvider === undefined && settings.provider.wire === "offline"
          ? `model ${settings.model}`
          : openaiOrigin(startup, environment),
    },
    model: { value: settings.model, origin: `default of ${settings.provider.id}` },
    ...(settings.contextWindow === null
      ? {}
      : {
          model_context_window: {
            value: settings.contextWindow,
            origin: `default of ${settings.model}`,
          },
        }),
  }
}

/** Prints the configuration on stdout. Resolves with the exit code. */
export const run = async (launch: Launch): Promise<number> => {
  const environment = Environment.read(launch.directory)
  const startup = await Effect.runPromiseExit(Startup.load(environment, launch))
  if (Exit.isFailure(startup)) {
    process.stderr.write(`${Startup.messageOf(startup.cause)}\n`)
    return 1
  }
  for (const warning of startup.value.warnings) process.stderr.write(`colloquy: ${warning}\n`)
  const file = await Effect.runPromise(startup.value.live.file)
  const effective = effectiveConfig(allKeys(), {
    file: file.tree,
    lines: linesOf(file.text),
    args: startup.value.overrides,
    chosen: chosenDefaults(startup.value, environment),
  })
  process.stdout.write(`# ${file.path}${file.text === "" ? " (missing or empty)" : ""}\n`)
  process.stdout.write(effective.map(lineOf).join(""))
  return 0
}
