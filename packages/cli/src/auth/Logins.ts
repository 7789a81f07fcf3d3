/**
 * Logins in the browser. At most one is in progress: its fiber ends with success, an error of the issuer, cancellation or
 * after ten minutes, and closes its loopback server (L8).
 *
 *     none --start--> in progress --code, error, timeout--> none
 *                     in progress --start, cancel, end--> none ("Login was not completed")
 */
import { AuthFailed, type Login, NoSuchLogin } from "@colloquy/server/app/ports/AuthPort"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
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

/** How long a person may take in the browser, as in the original. */
const maxLoginTime = "10 minutes"

const fail = (message: string) => new AuthFailed({ message })

interface Current {
  readonly loginId: string
  readonly fiber: Fiber.Fiber<void>
}

/** The logins of this process. The operations run one after the other. */
export interface Logins {
  /** Starts a login and returns its address for the browser; ends the one that is in progress. */
  readonly start: Effect.Effect<Login, AuthFailed>
  /** Ends the login of that id. Fails if it is not the one in progress. */
  readonly cancel: (loginId: string) => Effect.Effect<void, NoSuchLogin>
  /** Ends the login that is in progress, if any. */
  readonly end: Effect.Effect<void>
}

/** What logins need. */
export interface LoginsOptions {
  readonly issuer: OAuth.Issuer
  /** Port on 127.0.0.1; 0 takes any free one. */
  readonly callbackPort: number
  /** Where the tokens of a login are written. */
  readonly file: AuthFile
}

class BrowserLogins {
  private readonly options: LoginsOptions
  private readonly scope: Scope.Scope
  private readonly client: Context.Context<HttpClient.HttpClient>
  private current: Current | undefined

  constructor(
    options: LoginsOptions,
    scope: Scope.Scope,
    client: Context.Context<HttpClient.HttpClient>,
  ) {
    this.options = options
    this.scope = scope
    this.client = client
  }

  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    const ending = this.current
    this.current = undefined
    return ending === undefined ? Effect.void : Fiber.interrupt(ending.fiber)
  })

  cancel(loginId: string): Effect.Effect<void, NoSuchLogin> {
    return Effect.suspend(() =>
      this.current?.loginId === loginId ? this.end : Effect.fail(new NoSuchLogin({ loginId })),
    )
  }

  readonly start: Effect.Effect<Login, AuthFailed> = Effect.suspend(() =>
    this.end.pipe(
      Effect.andThen(Scope.fork(this.scope)),
      Effect.flatMap((attemptScope) =>
        Effect.onError(this.startIn(attemptScope), () => Scope.close(attemptScope, Exit.void)),
      ),
      Effect.uninterruptible,
    ),
  )

  /** Opens the loopback server in `attemptScope` and forks the fiber that waits for the browser. */
  private readonly startIn = Effect.fnUntraced(function* (
    this: BrowserLogins,
    attemptScope: Scope.Closeable,
  ): Effect.fn.Return<Login, AuthFailed> {
    const { callbackPort, issuer } = this.options
    const server = yield* Scope.provide(LoginServer.make(callbackPort), attemptScope)
    const attempt = yield* OAuth.newAttempt(server.redirectUri)
    const done = yield* Deferred.make<void, AuthFailed>()
    const loginId = randomUUID()
    const run = this.attend(attempt, server).pipe(
      Effect.onExit((exit) =>
        Effect.andThen(
          Scope.close(attemptScope, Exit.void),
          Deferred.done(done, interruptedAsFailure(exit)),
        ),
      ),
      Effect.ensuring(Effect.sync(() => this.forget(loginId))),
      // The outcome is reported through `completed`.
      Effect.exit,
      Effect.asVoid,
    )
    const fiber = yield* Effect.forkIn(run, this.scope, { startImmediately: true })
    this.current = { loginId, fiber }
    return {
      loginId,
      authUrl: OAuth.authorizeUrl(issuer, attempt),
      completed: Deferred.await(done),
    }
  })

  /** Waits for the code, exchanges it and stores the tokens, all within the time limit. */
  private attend(
    attempt: OAuth.Attempt,
    server: LoginServer.LoginServer,
  ): Effect.Effect<void, AuthFailed> {
    return this.finish(attempt, server).pipe(
      Effect.mapError(({ message }) => fail(`Login server error: ${message}`)),
      Effect.timeoutOrElse({
        duration: maxLoginTime,
        orElse: () => Effect.fail(fail("Login timed out")),
      }),
    )
  }

  private readonly finish = Effect.fnUntraced(function* (
    this: BrowserLogins,
    attempt: OAuth.Attempt,
    server: LoginServer.LoginServer,
  ): Effect.fn.Return<void, AuthFailed> {
    const code = yield* server.code(attempt.state)
    const tokens = yield* Effect.provideContext(
      OAuth.exchange(this.options.issuer, attempt, code),
      this.client,
    )
    const refreshedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    yield* this.options.file.write({ _tag: "Tokens", tokens, refreshedAt })
  })

  private forget(loginId: string): void {
    if (this.current?.loginId === loginId) this.current = undefined
  }
}

const interruptedAsFailure = (exit: Exit.Exit<void, AuthFailed>): Exit.Exit<void, AuthFailed> =>
  Exit.isFailure(exit) && Exit.hasInterrupts(exit)
    ? Exit.fail(fail("Login was not completed"))
    : exit

/** Creates the service. A login that is in progress ends with the scope. */
export const make = Effect.fnUntraced(function* (
  options: LoginsOptions,
): Effect.fn.Return<Logins, never, Scope.Scope | HttpClient.HttpClient> {
  const scope = yield* Effect.scope
  const client = yield* Effect.context<HttpClient.HttpClient>()
  const lock = yield* Semaphore.make(1)
  const logins = new BrowserLogins(options, scope, client)
  return {
    start: lock.withPermit(logins.start),
    cancel: (loginId) => lock.withPermit(logins.cancel(loginId)),
    end: lock.withPermit(logins.end),
  }
})
