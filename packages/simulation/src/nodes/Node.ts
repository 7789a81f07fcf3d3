/** One node: a link to the database, and the process that runs on it. A node is started, stopped and continued, killed, or drained. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Link from "./Link.ts"
import type { NodeSetup } from "./NodePlan.ts"
import { NodeGone, Process, type Surroundings } from "./Process.ts"

/** One node. */
export class Node {
  readonly name: string
  readonly link: Link.Link
  private process: Process | undefined
  private starts = 0
  private readonly setup: NodeSetup
  private readonly surroundings: Surroundings

  constructor(name: string, setup: NodeSetup, surroundings: Surroundings) {
    this.name = name
    this.setup = setup
    this.surroundings = surroundings
    this.link = new Link.Link(setup.commitFaults)
  }

  get isUp(): boolean {
    return this.process !== undefined
  }

  /** Starts a process if none runs. */
  start(): void {
    const { skewMs } = this.setup
    this.process ??= new Process(
      { node: this.name, name: `${this.name}.${this.starts++}` },
      skewMs,
      this.link,
      this.surroundings,
    )
  }

  kill(): void {
    this.process?.kill()
    this.process = undefined
  }

  stop(): void {
    this.process?.machine.stop()
  }

  go(): void {
    this.process?.machine.go()
  }

  /** Ends the process in an orderly way. */
  get drain(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { process } = this
      if (process === undefined) return Effect.void
      return Effect.andThen(
        process.drain,
        Effect.sync(() => {
          if (this.process === process) this.process = undefined
        }),
      )
    })
  }

  /** Runs a call of a client in the process of the node. */
  call<A, E>(
    use: (manager: ConversationManager["Service"]) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | NodeGone> {
    return this.within((services) => use(Context.get(services, ConversationManager)))
  }

  /** Runs a call of the store in the process of the node. */
  read<A, E>(
    use: (store: ConversationStore["Service"]) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | NodeGone> {
    return this.within((services) => use(Context.get(services, ConversationStore)))
  }

  private within<A, E>(
    use: (
      services: Context.Context<ConversationManager | ConversationStore>,
    ) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | NodeGone> {
    return Effect.suspend(
      (): Effect.Effect<A, E | NodeGone> =>
        this.process?.call(use) ?? Effect.fail(new NodeGone({ node: this.name })),
    )
  }
}
