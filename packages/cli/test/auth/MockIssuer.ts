/** A login issuer on loopback. It checks the PKCE proof, issues numbered tokens, and records its requests. */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { createServer } from "node:http"

export interface MockIssuer {
  readonly url: string
  /** Forms that the token endpoint has received, in order. */
  readonly forms: Array<Record<string, string>>
  /** The error that the token endpoint returns instead of tokens, if any. */
  refusal: { readonly status: number; readonly body: string } | undefined
  /** PKCE challenges by authorization code. */
  readonly challenges: Map<string, string>
}

/** An unsigned JSON Web Token with these claims. */
export const jwt = (claims: object): string =>
  ["e30", Buffer.from(JSON.stringify(claims)).toString("base64url"), "sig"].join(".")

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url")

export const make = (expiresAtMs: number) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<MockIssuer & { readonly close: () => void }>((resolve) => {
          const issuer = {
            url: "",
            forms: [] as Array<Record<string, string>>,
            refusal: undefined as MockIssuer["refusal"],
            challenges: new Map<string, string>(),
          }
          const server = createServer((request, response) => {
            let body = ""
            request.on("data", (chunk) => (body += String(chunk)))
            request.on("end", () => {
              const form = Object.fromEntries(new URLSearchParams(body))
              issuer.forms.push(form)
              const proven =
                form["grant_type"] !== "authorization_code" ||
                sha256(form["code_verifier"] ?? "") === issuer.challenges.get(form["code"] ?? "")
              const refusal = issuer.refusal ?? (proven ? undefined : { status: 400, body: "{}" })
              const n = issuer.forms.length
              response.writeHead(refusal?.status ?? 200, { "content-type": "application/json" })
              response.end(
                refusal?.body ??
                  JSON.stringify({
                    access_token: jwt({ exp: expiresAtMs / 1000, n }),
                    id_token: jwt({
                      email: "me@example.org",
                      "https://api.openai.com/auth": { chatgpt_account_id: "acc-1" },
                    }),
                    refresh_token: `sk-secret-refresh-${n}`,
                  }),
              )
            })
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" && address !== null ? address.port : 0
            issuer.url = `http://127.0.0.1:${port}`
            resolve(Object.assign(issuer, { close: () => server.close() }))
          })
        }),
    ),
    (issuer) => Effect.sync(issuer.close),
  )
