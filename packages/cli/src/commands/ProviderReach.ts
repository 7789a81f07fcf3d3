/**
 * Whether the provider answers, and takes the key: one request for its list of models, with the key where the environment or
 * the configuration has one. No answer is quoted.
 */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Http from "node:http"
import * as Https from "node:https"
import { withoutUserAndQuery } from "../config/Redaction.ts"

/** What came back. */
export type Reach =
  /** The HTTP status. */
  | { readonly _tag: "Answered"; readonly status: number; readonly hasKey: boolean }
  | { readonly _tag: "Unreachable"; readonly problem: string }

/** Longest wait for the answer. */
const timeout = Duration.seconds(5)

const unreachable = (problem: string): Reach => ({ _tag: "Unreachable", problem })

/** The key that requests to the provider have; undefined where it is that of a login, or there is none. */
const keyOf = (
  { bearerToken, envKey }: ModelProvider,
  variables: NodeJS.ProcessEnv,
): string | undefined => {
  const variable = envKey === undefined ? "" : (variables[envKey] ?? "").trim()
  if (variable !== "") return variable
  return bearerToken === undefined ? undefined : Redacted.value(bearerToken)
}

const headersOf = (
  { envHttpHeaders, httpHeaders }: ModelProvider,
  variables: NodeJS.ProcessEnv,
  key: string | undefined,
): Http.OutgoingHttpHeaders => {
  const fromVariables = Object.entries(envHttpHeaders).flatMap(([header, name]) => {
    const value = (variables[name] ?? "").trim()
    return value === "" ? [] : [[header, value] as const]
  })
  return {
    ...httpHeaders,
    ...Object.fromEntries(fromVariables),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
}

/** Asks the provider. Never fails. */
export const reach = (
  provider: ModelProvider,
  variables: NodeJS.ProcessEnv,
): Effect.Effect<Reach> => {
  const key = keyOf(provider, variables)
  return Effect.callback<Reach>((resume) => {
    const fail = (error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException
      resume(Effect.succeed(unreachable(code ?? message)))
    }
    try {
      const url = new URL(`${provider.baseUrl}/models`)
      for (const [name, value] of Object.entries(provider.queryParams))
        url.searchParams.set(name, value)
      const { get } = url.protocol === "https:" ? Https : Http
      const request = get(url, { headers: headersOf(provider, variables, key) }, (response) => {
        const { statusCode: status = 0 } = response
        resume(Effect.succeed({ _tag: "Answered", status, hasKey: key !== undefined }))
        request.destroy()
      })
      request.on("error", fail)
      return Effect.sync(() => void request.destroy())
    } catch (error) {
      fail(error)
      return undefined
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.succeed(unreachable(`no answer in ${Duration.format(timeout)}`)),
    }),
  )
}

/** The problem of a provider that does not answer. */
export const unreachableText = ({ baseUrl, id }: ModelProvider, problem: string): string =>
  `provider: ${id} cannot be reached at ${withoutUserAndQuery(baseUrl)}: ${problem}`
