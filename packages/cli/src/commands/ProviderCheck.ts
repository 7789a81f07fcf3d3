/** The lines of `doctor` about the configuration, the provider and its key. No key is quoted. Sends no request. */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { join } from "node:path"
import type { LoginLine } from "../auth/LoginReport.ts"
import { withoutUserAndQuery } from "../config/Redaction.ts"
import type { Environment } from "../machine/Environment.ts"
import * as Startup from "../server/Startup.ts"

type Line = LoginLine

const isSet = (variables: NodeJS.ProcessEnv, name: string): boolean =>
  (variables[name] ?? "").trim() !== ""

/** The line of the key of a provider. */
export const keyLine = (
  { bearerToken, envKey, envKeyInstructions, id, keyOptional, wire }: ModelProvider,
  login: Line,
  variables: NodeJS.ProcessEnv,
): Line => {
  const line = (state: Line["state"], text: string): Line => ({ state, text: `key: ${text}` })
  if (wire === "offline") return line("ok", "none needed")
  if (bearerToken !== undefined) return line("ok", `in the configuration of the provider ${id}`)
  if (envKey === undefined) return line("ok", `the provider ${id} is used without one`)
  if (isSet(variables, envKey)) return line("ok", `${envKey} is set`)
  if (envKey === "OPENAI_API_KEY" && login.state !== "missing") {
    return line(login.state, login.state === "ok" ? "that of the login" : "the login is broken")
  }
  if (keyOptional === true) return line("ok", `the provider ${id} is used without one`)
  const advice =
    envKey === "OPENAI_API_KEY"
      ? "set OPENAI_API_KEY, or run `colloquy login`"
      : (envKeyInstructions ?? `set ${envKey}`)
  return line("missing", `the provider ${id} needs one. Advice: ${advice}.`)
}

const providerText = ({ baseUrl, id, wire }: ModelProvider, model: string): string =>
  wire === "offline"
    ? `provider: ${id}, built in, with the model ${model}`
    : `provider: ${id}, ${withoutUserAndQuery(baseUrl)}, with the model ${model}`

/** One line each for the configuration, the provider and the key; only the first where the configuration is not valid. */
export const providerLines = Effect.fnUntraced(function* (
  environment: Environment,
  login: Line,
  variables: NodeJS.ProcessEnv,
): Effect.fn.Return<ReadonlyArray<Line>> {
  const path = join(environment.stateDirectory, "config.toml")
  const loaded = yield* Effect.result(Startup.load(environment, { overrides: [] }))
  if (Result.isFailure(loaded)) {
    return [{ state: "broken", text: `config: ${loaded.failure.message}` }]
  }
  const { missingProvider, settings, warnings } = loaded.success
  const config: ReadonlyArray<Line> = [
    { state: "ok", text: `config: ${path}` },
    ...warnings.map((warning): Line => ({ state: "missing", text: `config: ${warning}` })),
  ]
  if (missingProvider !== undefined) {
    return [...config, { state: "missing", text: `provider: ${missingProvider}` }]
  }
  return [
    ...config,
    { state: "ok", text: providerText(settings.provider, settings.model) },
    keyLine(settings.provider, login, variables),
  ]
})

/** True where a conversation can start: a warning about a key without an effect does not keep it from that. */
export const canStart = (lines: ReadonlyArray<Line>): boolean =>
  lines.every(
    ({ state, text }) => state === "ok" || (state === "missing" && text.startsWith("config: ")),
  )
