/**
 * Who belongs to a simulated cluster, and which member owns a conversation. What the members share is in one place, as in a
 * database; each of them acts on what it has read last, so that two members may disagree.
 */
import * as Hash from "effect/Hash"
import type { Ground } from "../Machine.ts"

/** How long a node stays a member that does not renew its membership. */
export const memberForMs = 6_000

/** The members as one of them has read them. */
export interface View {
  readonly members: ReadonlyArray<string>
  /** Grows when conversations get other owners although no member came or went. */
  readonly round: number
}

/** Name of the node that owns the conversation according to this view. */
export const ownerIn = ({ members, round }: View, id: string): string | undefined => {
  const weighed = members.map((name) => ({ name, weight: Hash.string(`${name} ${round} ${id}`) }))
  return weighed.toSorted((one, other) => other.weight - one.weight)[0]?.name
}

/** The members of one cluster. */
export class Membership {
  private readonly untilMs = new Map<string, number>()
  private readonly ground: Ground
  private round = 0

  constructor(ground: Ground) {
    this.ground = ground
  }

  /** The node is a member from now on, for a while. Returns the members. */
  renew(node: string): View {
    const nowMs = this.ground.clock.currentTimeMillisUnsafe()
    this.untilMs.set(node, nowMs + memberForMs)
    const members = [...this.untilMs].flatMap(([name, until]) => (until > nowMs ? [name] : []))
    return { members, round: this.round }
  }

  /** The node is no member any more. */
  remove(node: string): void {
    this.untilMs.delete(node)
  }

  /** Gives the conversations other owners. */
  move(): void {
    this.round++
  }
}
