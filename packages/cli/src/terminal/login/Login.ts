/** `colloquy login`, `logout` and `status`: the login at the provider `openai`. No secret is an argument or is printed. */
import { ApiKey } from "@colloquy/protocol/app/Account"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { printable } from "../../demo/Format.ts"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { loginOf } from "../../auth/LoginOfMachine.ts"
import { withoutUserAndQuery } from "../../config/Redaction.ts"
import { keyLine } from "../../commands/ProviderCheck.ts"
import { CommandFailed } from "../CommandFailed.ts"
import { output, print } from "../Output.ts"
import type { Loaded } from "../WithServices.ts"
import { readSecret } from "./ReadSecret.ts"

const stored = "Logged in."

/** Stores the key that stdin gives: a line that is typed without being shown, or all of a file or pipe. */
export const withApiKey = Effect.gen(function* () {
  const key = yield* readSecret("API key (not shown): ")
  if (key === "") {
    return yield* new CommandFailed({
      message:
        "no API key: write it to stdin, as in `printenv OPENAI_API_KEY | colloquy login --api-key`",
    })
  }
  if (!Schema.is(ApiKey)(key)) {
    return yield* new CommandFailed({
      message: "an API key is one word of visible ASCII letters, without spaces",
    })
  }
  yield* (yield* Auth).loginApiKey(Redacted.make(key))
  yield* print([stored])
})

/** Waits until the person has logged in on the page whose address is printed. */
export const inBrowser = Effect.gen(function* () {
  const login = yield* (yield* Auth).loginChatGpt
  yield* print(["Open this address in a browser of this machine:", "", login.authUrl, ""])
  yield* login.completed
  yield* print([stored])
})

/** Deletes the stored login. */
export const logout = Effect.gen(function* () {
  const auth = yield* Auth
  yield* auth.logout
  yield* print(["Logged out."])
})

/** Prints which model, provider and login are used. Fails where a conversation could not start. */
export const status = Effect.fnUntraced(function* ({ environment, startup }: Loaded) {
  const { style } = output()
  const { missingProvider, settings } = startup
  const { model, provider } = settings
  const login = yield* loginOf(environment)
  const key = keyLine(provider, login, process.env)
  const facts: ReadonlyArray<readonly [string, string]> = [
    ["model", model],
    [
      "provider",
      provider.wire === "offline"
        ? `${provider.id}, built in, needs no key and no network`
        : `${provider.id}, ${withoutUserAndQuery(provider.baseUrl)}`,
    ],
    ["login", login.text.replace(/^login: /, "")],
    ["key", key.text.replace(/^key: /, "")],
    ["state", environment.stateDirectory],
  ]
  yield* print(facts.map(([name, value]) => `${style.dim(name.padEnd(10))}${printable(value)}`))
  if (missingProvider === undefined && key.state !== "ok") {
    return yield* new CommandFailed({ message: key.text })
  }
  if (missingProvider !== undefined) return yield* new CommandFailed({ message: missingProvider })
})
