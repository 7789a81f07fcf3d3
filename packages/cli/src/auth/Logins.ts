/**
 * Logins in the browser: one at a time, each in a fiber of its own that ends by success, refusal, cancellation or after
 * ten minutes, and takes its loopback server with it (L8).
 */
import { AuthFailed, type Login, NoSuchLogin } from "@colloquy/server/app/ports/AuthPort"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as HttpClient from "effect/http/HttpClient"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { randomUUID } from "node:crypto"
import type { AuthFile } from "./AuthFile.ts"
import * as LoginServer from "./LoginServer.ts"
import * as OAuth from "./OAuth.ts"

const loginBound = "10 minutes"

const fail = (message: string) => new AuthFailed({ message })

interface Current {
  readonly loginId: string
  readonly fiber: Fiber.Fiber<void>
}

export interface Logins {
  /** Ends one that is under way. */
  readonly begin: Effect.Effect<Login, AuthFailed>
  readonly cancel: (loginId: string) => Effect.Effect<void, NoSuchLogin>
  readonly end: Effect.Effect<void>
}

export interface LoginsOptions {
  readonly issuer: OAuth.Issuer
  /** 0 for any that is free. */
  readonly callbackPort: number
  readonly file: AuthFile
}

/** The attempts end with the scope. */
export const make = Effect.fnUntraced(function* (
  options: LoginsOptions,
): Effect.fn.Return<Logins, never, Scope.Scope | HttpClient.HttpClient> {
  const scope = yield* Effect.scope
  const client = yield* Effect.context<HttpClient.HttpClient>()
  const one = yield* Semaphore.make(1)
  let current: Current | undefined

  const finish = Effect.fnUntraced(function* (
    attempt: OAuth.Attempt,
    server: LoginServer.LoginServer,
  ): Effect.fn.Return<void, AuthFailed> {
    const code = yield* server.code(attempt.state)
    const tokens = yield* Effect.provideContext(
      OAuth.exchange(options.issuer, attempt, code),
      client,
    )
    const refreshedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* options.file.write({ _tag: "Tokens", tokens, refreshedAt })
  })

  const end = Effect.suspend(() => {
    const ending = current
    current = undefined
    return ending === undefined ? Effect.void : Fiber.interrupt(ending.fiber)
  })

  const begin = Effect.gen(function* () {
    yield* end
    const own = yield* Scope.fork(scope)
    return yield* Effect.gen(function* () {
      const server = yield* Scope.provide(LoginServer.make(options.callbackPort), own)
      const attempt = yield* OAuth.newAttempt(server.redirectUri)
      const done = yield* Deferred.make<void, AuthFailed>()
      const loginId = randomUUID()
      const run = finish(attempt, server).pipe(
        Effect.mapError(({ message }) => fail(`Login server error: ${message}`)),
        Effect.timeoutOrElse({
          duration: loginBound,
          orElse: () => Effect.fail(fail("Login timed out")),
        }),
        Effect.onExit((exit) =>
          Effect.andThen(
            Scope.close(own, Exit.void),
            Deferred.done(
              done,
              Exit.isFailure(exit) && Exit.hasInterrupts(exit)
                ? Exit.fail(fail("Login was not completed"))
                : exit,
            ),
          ),
        ),
        Effect.ensuring(
          Effect.sync(() => {
            if (current?.loginId === loginId) current = undefined
          }),
        ),
        // Its outcome is `completed`, for whoever waits for it.
        Effect.exit,
        Effect.asVoid,
      )
      current = { loginId, fiber: yield* Effect.forkIn(run, scope, { startImmediately: true }) }
      return {
        loginId,
        authUrl: OAuth.authorizeUrl(options.issuer, attempt),
        completed: Deferred.await(done),
      }
    }).pipe(Effect.onError(() => Scope.close(own, Exit.void)))
  }).pipe(Effect.uninterruptible)

  return {
    begin: one.withPermit(begin),
    cancel: (loginId) =>
      one.withPermit(
        Effect.suspend(() =>
          current?.loginId === loginId ? end : Effect.fail(new NoSuchLogin({ loginId })),
        ),
      ),
    end: one.withPermit(end),
  }
})
