/**
 * One request of a process to another one and its response. A packet may be lost, late, or arrive twice; a process that is
 * stopped or cut off sends no signs of life, and then the caller gives up. It never waits for ever.
 */
import { NodeUnreachable } from "@colloquy/cluster/NodeErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { CallFault } from "../NodePlan.ts"
import { type Connected, heartbeatMs, type Network, type Peer } from "./Network.ts"

/** A request. */
export interface Request<A, E> {
  readonly id: ConversationId
  readonly from: Peer
  /** The process that it is sent to; undefined where none is known. */
  readonly to: Peer | undefined
  readonly fault: CallFault | undefined
  /** True where a packet that a silent cut loses is sent again, because the caller sets no time limit for the response. */
  readonly isResent?: boolean
  /** What the process carries out; undefined where it refuses. */
  readonly use: (to: Peer) => Effect.Effect<A, E> | undefined
}

/** Time after which a lost packet is sent again. */
const resendMs = 1_000

class Exchange<A, E> implements Connected {
  readonly from: Peer
  readonly to: Peer
  private readonly request: Request<A, E>
  private readonly network: Network
  private readonly resume: (result: Effect.Effect<Exit.Exit<A, E>, NodeUnreachable>) => void
  private fiber: Fiber.Fiber<A, E> | undefined
  private isOver = false
  private missed = 0
  private stopHeartbeat = () => {}

  constructor(
    network: Network,
    request: Request<A, E>,
    to: Peer,
    resume: (result: Effect.Effect<Exit.Exit<A, E>, NodeUnreachable>) => void,
  ) {
    this.network = network
    this.request = request
    this.from = request.from
    this.to = to
    this.resume = resume
  }

  start(): void {
    const { fault, from } = this.request
    from.exchanges.add(this)
    this.to.exchanges.add(this)
    this.beat()
    if (fault?.how === "lost") return this.later(() => this.fail("the connection is lost"))
    this.send(fault?.how === "late" ? fault.ms : 0)
    // The repetition is carried out whatever has become of the caller.
    if (fault?.how === "twice") this.network.after(fault.ms, () => this.arrive(() => {}))
  }

  /** Ends the exchange without a result. */
  fail(reason: string): void {
    this.abandon()
    this.end(Effect.fail(new NodeUnreachable({ id: this.request.id, reason })))
  }

  /** The caller waits no more. */
  interrupt(): void {
    if (this.isOver) return
    this.over()
    this.later(() => this.abandon())
  }

  private send(lateMs: number): void {
    this.network.after(this.network.delayMs + lateMs, () => {
      if (this.cut === "refused") return this.fail("cut off")
      if (this.cut === "silent") return this.resend(() => this.send(0))
      const refuse = () => this.fail("the node does not have the conversation")
      this.arrive(refuse, (exit) => this.respond(exit))
    })
  }

  private respond(exit: Exit.Exit<A, E>): void {
    this.later(() => {
      const isLost = this.request.fault?.how === "lost answer" || this.cut === "refused"
      if (isLost) this.fail("the connection is lost")
      else if (this.cut === undefined) this.end(Effect.succeed(exit))
      else this.resend(() => this.respond(exit))
    })
  }

  private resend(task: () => void): void {
    if (!this.request.isResent || this.isOver) return
    this.network.after(resendMs, task)
  }

  /** Runs the request in the process that it is sent to. */
  private arrive(refuse: () => void, done: (exit: Exit.Exit<A, E>) => void = () => {}): void {
    const { to } = this
    if (to.machine.isDead) return refuse()
    to.machine.run(() => {
      const use = to.calls === undefined ? undefined : this.request.use(to)
      if (use === undefined) return refuse()
      const fiber = to.fork(use)
      this.fiber = fiber
      fiber.addObserver(done)
    })
  }

  private beat(): void {
    this.stopHeartbeat = this.network.after(heartbeatMs, () => {
      const { machine } = this.to
      this.missed =
        this.cut !== undefined || machine.isStopped || machine.isDead ? this.missed + 1 : 0
      if (this.missed > 1) this.fail("no sign of life")
      else this.beat()
    })
  }

  private end(result: Effect.Effect<Exit.Exit<A, E>, NodeUnreachable>): void {
    if (this.isOver) return
    this.over()
    this.from.machine.run(() => this.resume(result))
  }

  private over(): void {
    this.isOver = true
    this.stopHeartbeat()
    this.from.exchanges.delete(this)
    this.to.exchanges.delete(this)
  }

  private abandon(): void {
    const { fiber } = this
    if (fiber !== undefined) this.to.machine.run(() => fiber.interruptUnsafe())
  }

  private later(task: () => void): void {
    this.network.after(this.network.delayMs, task)
  }

  private get cut() {
    return this.network.cut(this.from.node, this.to.node)
  }
}

/** Sends a request. Fails with `NodeUnreachable` where no result arrives; it may have been carried out. */
export const exchange = <A, E>(
  network: Network,
  request: Request<A, E>,
): Effect.Effect<Exit.Exit<A, E>, NodeUnreachable> =>
  Effect.callback((resume) => {
    const { id, to } = request
    if (to === undefined || to.machine.isDead) {
      return resume(Effect.fail(new NodeUnreachable({ id, reason: "there is no such node" })))
    }
    const running = new Exchange(network, request, to, resume)
    running.start()
    return Effect.sync(() => running.interrupt())
  })
