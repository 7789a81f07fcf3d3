/** The lines of `doctor` about the state directory, the configuration, the provider and its key. No key is quoted. */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { accessSync, constants, existsSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Launch } from "../args/Args.ts"
import type { LoginLine } from "../auth/LoginReport.ts"
import { withoutUserAndQuery } from "../config/Redaction.ts"
import type { Environment } from "../machine/Environment.ts"
import * as Startup from "../server/Startup.ts"
import { type Reach, unreachableText } from "./ProviderReach.ts"

/** One line of the report. A warning is about something that has no effect. */
export type Line = Omit<LoginLine, "state"> & { readonly state: LoginLine["state"] | "warning" }

const isSet = (variables: NodeJS.ProcessEnv, name: string): boolean =>
  (variables[name] ?? "").trim() !== ""

/** What is said of the key of a provider that gets the tokens of the login. */
const ofLogin = "that of the login"

/** The line of the key of a provider. */
export const keyLine = (
  { bearerToken, envKey, envKeyInstructions, id, keyOptional, wire }: ModelProvider,
  login: LoginLine,
  variables: NodeJS.ProcessEnv,
): LoginLine => {
  const line = (state: LoginLine["state"], text: string): LoginLine => ({
    state,
    text: `key: ${text}`,
  })
  if (wire === "offline") return line("ok", "none needed")
  if (bearerToken !== undefined) return line("ok", `in the configuration of the provider ${id}`)
  if (envKey === undefined) return line("ok", `the provider ${id} is used without one`)
  if (isSet(variables, envKey)) return line("ok", `${envKey} is set`)
  if (envKey === "OPENAI_API_KEY" && login.state !== "missing") {
    return line(login.state, login.state === "ok" ? ofLogin : "the login is broken")
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

/**
 * The line of a provider that has answered. Not every one has a list of models, so that 404 is no fault; one that answers
 * with an error of its own cannot be used, and one with too many requests can be, later.
 */
const answeredLine = (text: string, status: number): Line => {
  if (status >= 500) {
    return {
      state: "broken",
      text: `${text}, answers with the status ${status}. Advice: try again, or ask who runs it.`,
    }
  }
  return status === 429
    ? {
        state: "warning",
        text: `${text}, answers with the status 429: too many requests, or no quota is left. The address is right; turns wait and try again.`,
      }
    : { state: "ok", text }
}

/** The lines of a provider, and of its key, after it was asked. */
const askedLines = (
  { model, provider }: { readonly model: string; readonly provider: ModelProvider },
  key: Line,
  answer: Reach,
): ReadonlyArray<Line> => {
  if (answer._tag === "Unreachable") {
    return [{ state: "broken", text: unreachableText(provider, answer.problem) }, key]
  }
  const { hasKey, status } = answer
  const reached = answeredLine(providerText(provider, model), status)
  if (status === 401 || status === 403) {
    if (hasKey) {
      const text = `key: ${provider.id} refuses it, with the status ${status}`
      return [reached, { state: "broken", text }]
    }
    // The request had none where there is a login, whose tokens are not tried here.
    if (key.state !== "ok" || key.text === `key: ${ofLogin}`) return [reached, key]
    const text = `key: ${provider.id} needs one, it answers with the status ${status} without`
    return [reached, { state: "missing", text }]
  }
  if (!hasKey) return [reached, key]
  const isTaken = status >= 200 && status < 300
  return [reached, isTaken ? { ...key, text: `${key.text}, and ${provider.id} takes it` } : key]
}

/** The first directory of the path that exists. */
const existing = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : existing(dirname(path))

/** The line of the directory of the conversations. */
const stateLine = ({ stateDirectory }: Environment): Line => {
  try {
    accessSync(existing(stateDirectory), constants.W_OK | constants.X_OK)
    return { state: "ok", text: `state: ${stateDirectory}` }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return {
      state: "broken",
      text: `state: ${stateDirectory} cannot be written (${code}). Advice: set COLLOQUY_HOME to another directory.`,
    }
  }
}

/** What the lines are about. */
export interface ProviderCheck {
  readonly environment: Environment
  readonly launch: Launch
  readonly login: LoginLine
  readonly variables: NodeJS.ProcessEnv
  /** Asks the provider. */
  readonly ask: (provider: ModelProvider) => Effect.Effect<Reach>
}

/** One line each for state, configuration, provider and key; only the first two where the configuration is not valid. */
export const providerLines = Effect.fnUntraced(function* ({
  ask,
  environment,
  launch,
  login,
  variables,
}: ProviderCheck): Effect.fn.Return<ReadonlyArray<Line>> {
  const state = stateLine(environment)
  const path = join(environment.stateDirectory, "config.toml")
  const loaded = yield* Effect.result(Startup.load(environment, launch))
  if (Result.isFailure(loaded)) {
    return [state, { state: "broken", text: `config: ${loaded.failure.message}` }]
  }
  const { missingProvider, settings, warnings } = loaded.success
  const config: ReadonlyArray<Line> = [
    state,
    { state: "ok", text: `config: ${path}` },
    ...warnings.map((warning): Line => ({ state: "warning", text: `config: ${warning}` })),
  ]
  if (missingProvider !== undefined) {
    return [...config, { state: "missing", text: `provider: ${missingProvider}` }]
  }
  const { model, provider } = settings
  const key = keyLine(provider, login, variables)
  if (provider.wire === "offline") {
    return [...config, { state: "ok", text: providerText(provider, model) }, key]
  }
  return [...config, ...askedLines(settings, key, yield* ask(provider))]
})

/** True where a conversation can start. */
export const canStart = (lines: ReadonlyArray<Line>): boolean =>
  lines.every(({ state }) => state === "ok" || state === "warning")
