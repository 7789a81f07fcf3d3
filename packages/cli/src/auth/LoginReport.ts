/** Says for a person which login requests to the provider `openai` use, and where it comes from. Never quotes a key. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as AuthFile from "./AuthFile.ts"
import { leftOut } from "./LeftOut.ts"
import * as OriginalLogin from "./OriginalLogin.ts"

export interface LoginLine {
  readonly state: "ok" | "missing" | "broken"
  readonly text: string
}

export interface LoginReportOptions {
  /** Of the own `auth.json`. */
  readonly stateDirectory: string
  readonly original?: OriginalLogin.OriginalLoginOptions
  /** True when the environment variable has a key: it goes before every login. */
  readonly hasVariable: boolean
}

const kinds = { ApiKey: "an API key", Tokens: "the tokens of a ChatGPT login" } as const

const line = (state: LoginLine["state"], text: string): LoginLine => ({
  state,
  text: `login: ${text}`,
})

const broken = ({ message }: { readonly message: string }) => line("broken", message)

/** The line of the first place that has a login. */
export const loginLine = Effect.fnUntraced(function* (
  options: LoginReportOptions,
): Effect.fn.Return<LoginLine> {
  if (options.hasVariable) return line("ok", "OPENAI_API_KEY is set")
  const own = AuthFile.make(options.stateDirectory)
  const found = yield* Effect.result(own.read)
  if (Result.isFailure(found)) return broken(found.failure)
  if (found.success !== undefined) {
    return line("ok", `${kinds[found.success._tag]} in ${own.path}`)
  }
  if (options.original === undefined) return line("missing", `there is none in ${own.path}`)
  const original = OriginalLogin.make(options.original)
  const other = yield* Effect.result(original.read)
  if (Result.isFailure(other)) return broken(other.failure)
  if (other.success !== undefined) {
    return line("ok", `${kinds[other.success._tag]} of codex in ${original.path}`)
  }
  return line(
    "missing",
    (yield* original.isLeftOut)
      ? `there is none in ${own.path}, and ${leftOut(original.path)}`
      : `there is none in ${own.path} or ${original.path}`,
  )
})
