/** Reports to a person which login requests to the provider `openai` use, and where it is stored. Never quotes a key. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as AuthFile from "./AuthFile.ts"
import { excludedLogin } from "./ExcludedLogin.ts"
import * as OriginalLogin from "./OriginalLogin.ts"

/** One line of the report. */
export interface LoginLine {
  readonly state: "ok" | "missing" | "broken"
  readonly text: string
}

/** Where logins can be. */
export interface LoginReportOptions {
  /** Directory of Colloquy's own `auth.json`. */
  readonly stateDirectory: string
  readonly original?: OriginalLogin.OriginalLoginOptions
  /** True if OPENAI_API_KEY is set, which takes precedence over every login. */
  readonly hasVariable: boolean
}

const kinds = { ApiKey: "an API key", Tokens: "the tokens of a ChatGPT login" } as const

const line = (state: LoginLine["state"], text: string): LoginLine => ({
  state,
  text: `login: ${text}`,
})

const broken = ({ message }: { readonly message: string }) => line("broken", message)

/** The line for the login with the highest precedence. */
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
  if (options.original === undefined) return line("missing", `none found in ${own.path}`)
  const original = OriginalLogin.make(options.original)
  const other = yield* Effect.result(original.read)
  if (Result.isFailure(other)) return broken(other.failure)
  if (other.success !== undefined) {
    return line("ok", `${kinds[other.success._tag]} of codex in ${original.path}`)
  }
  return line(
    "missing",
    (yield* original.isExcluded)
      ? `none found in ${own.path}, and ${excludedLogin(original.path)}`
      : `none found in ${own.path} or ${original.path}`,
  )
})
