/** How a client of the page reaches the server: the setup that it copies, and a recording of what it declares. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { home } from "../test/support/Home.ts"
import { type Declared, declaredOnPage, httpSetup, type Language, setup } from "./ClientsPage.ts"
import type { ServerAddress } from "./Driver.ts"
import { proxyTo } from "./HttpProxy.ts"
import { listeningWith } from "./Listening.ts"
import type { ClientName } from "./Pins.ts"
import { type Place, serverConfig } from "./Place.ts"
import { declaredIn, recorder } from "./Recorder.ts"

interface Recorded {
  readonly setup: string
  readonly declared: () => Partial<Declared>
}

export interface Reach {
  /** The setup with the values of this machine. */
  readonly setup: (here: Place) => Effect.Effect<string, never, Scope.Scope>
  /** The setup with something in between that records what the client declares. */
  readonly recorded: (here: Place) => Effect.Effect<Recorded, never, Scope.Scope>
  /** What the page says that it declares. */
  readonly expected: Partial<Declared>
}

/** The client starts the server. */
export const overStdio = (client: ClientName, language: Language): Reach => ({
  setup: () => Effect.sync(() => setup(client, language)),
  recorded: (here) =>
    Effect.sync(() => {
      const { declared, directory } = recorder(here)
      return { setup: setup(client, language, { DIR: directory }), declared }
    }),
  expected: declaredOnPage(client),
})

const serverFor = ({ workspace }: Place): Effect.Effect<ServerAddress, never, Scope.Scope> =>
  Effect.flatMap(home({ "config.toml": serverConfig }), (directory) =>
    listeningWith(directory, ["serve"], workspace),
  )

const portOf = (url: string): number => Number(new URL(url).port)

/** `colloquy serve` has been started in the workspace. */
export const overHttp = (client: ClientName, language: Language): Reach => {
  // The server does not have the environment of the client.
  const { key: _, ...expected } = declaredOnPage(client)
  return {
    setup: (here) =>
      Effect.map(serverFor(here), ({ token, url }) =>
        httpSetup(client, language, { PORT: portOf(url), TOKEN: token }),
      ),
    recorded: (here) =>
      Effect.gen(function* () {
        const { token, url } = yield* serverFor(here)
        const proxy = yield* proxyTo(url)
        return {
          setup: httpSetup(client, language, { PORT: portOf(proxy.url), TOKEN: token }),
          declared: () => declaredIn(proxy.requests.map(({ body }) => body)),
        }
      }),
    expected,
  }
}
