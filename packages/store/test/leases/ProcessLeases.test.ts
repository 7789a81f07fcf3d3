import { LeaseHeld } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { FileFault } from "../../src/Files.ts"
import { TakersLocked, type HeldLease } from "../../src/leases/ProcessLeases.ts"
import { acquireLease } from "../../src/leases/ScopedLease.ts"
import { type LeaseProcess, SharedLeaseFiles } from "../support/MemoryLeaseFiles.ts"
import { idOf } from "../support/Records.ts"

const id = idOf(1)

/** Codes with which a system can refuse any operation without saying that something is absent. */
const codes = ["EMFILE", "ENFILE", "EIO", "EACCES", "EPERM", "ENOSPC", "ESTALE", "EINTR", "ELOOP"]

const taken = (process: LeaseProcess): HeldLease => {
  const held = process.leases.take(id, 0)
  if (held instanceof LeaseHeld || held instanceof TakersLocked) throw new Error(held._tag)
  return held
}

const isLease = (found: HeldLease | LeaseHeld | TakersLocked | undefined): found is HeldLease =>
  found !== undefined && !(found instanceof LeaseHeld) && !(found instanceof TakersLocked)

/**
 * More operations than any method performs, so that a fault is injected at each of them and after
 * the last.
 */
const maxOperations = 20

describe("the leases of processes", () => {
  for (const code of codes) {
    it(`L16 takes no lease of a live process, whichever operation fails with ${code}`, () => {
      for (let at = 0; at < maxOperations; at++) {
        const world = new SharedLeaseFiles()
        const [owner, thief] = [world.start(), world.start()]
        const held = taken(owner)
        const found = thief.withFaultAt(at, code, () => thief.leases.take(id, 1))
        assert.isFalse(isLease(found), `a fault at operation ${at}`)
        assert.isTrue(owner.leases.isHeld(id, held), `a fault at operation ${at}`)
        assert.instanceOf(
          thief.leases.take(id, 1),
          LeaseHeld,
          "and gets LeaseHeld without the fault",
        )
      }
    })

    it(`L16 does not lose a lease because of ${code}: the check fails and succeeds later`, () => {
      const world = new SharedLeaseFiles()
      const owner = world.start()
      const held = taken(owner)
      const asked = () => owner.leases.isHeld(id, held)
      for (let at = 0; at < owner.count(asked); at++) {
        assert.isUndefined(owner.withFaultAt(at, code, asked))
        assert.isTrue(asked())
      }
    })

    it(`L16 leaves nothing behind that blocks a lease, whichever operation fails with ${code}`, () => {
      for (let at = 0; at < maxOperations; at++) {
        const world = new SharedLeaseFiles()
        const [first, second] = [world.start(), world.start()]
        const began = first.withFaultAt(at, code, () => first.leases.take(id, 0))
        const held = isLease(began) ? began : taken(first)
        first.withFaultAt(at, code, () => first.leases.release(id, held))
        // If the file could not be removed, its owner takes the lease again and releases it.
        first.leases.release(id, taken(first))
        assert.isTrue(isLease(second.leases.take(id, 1)), `a fault at operation ${at}`)
      }
    })
  }

  it("L16 retries a failed release with the next release", () => {
    const world = new SharedLeaseFiles()
    const [owner, next] = [world.start(), world.start()]
    const held = taken(owner)
    assert.isUndefined(owner.withFaultAt(0, "EMFILE", () => owner.leases.release(id, held)))
    assert.instanceOf(next.leases.take(id, 1), LeaseHeld)
    const other = owner.leases.take(idOf(2), 0)
    assert.isTrue(isLease(other))
    if (isLease(other)) owner.leases.release(idOf(2), other)
    assert.isTrue(isLease(next.leases.take(id, 1)))
  })

  it("L16 takes a lease whose owner ends or releases it at any operation, and only then", () => {
    for (const ends of ["is killed", "gives back"] as const) {
      for (let at = 0; at < maxOperations; at++) {
        const world = new SharedLeaseFiles()
        const [owner, other] = [world.start(), world.start()]
        const held = taken(owner)
        let ended = false
        const from = other.operations
        other.fault = (count) => {
          if (count - from !== at) return undefined
          ended = true
          if (ends === "is killed") world.kill(owner)
          else owner.leases.release(id, held)
          return undefined
        }
        const found = other.leases.take(id, 1)
        assert.isTrue(!isLease(found) || ended, `${ends} at operation ${at}`)
        if (isLease(found) && ends === "gives back") assert.isFalse(owner.leases.isHeld(id, held))
        other.fault = () => undefined
        if (!ended) continue
        if (isLease(found)) assert.isTrue(other.leases.isHeld(id, found))
        else assert.isTrue(isLease(other.leases.take(id, 2)), `${ends} at operation ${at}`)
      }
    }
  })

  it("L16 gives a free lease to one of two processes, at whichever operation the second one takes it", () => {
    for (const isFirstTake of [true, false]) {
      for (let at = 0; at < maxOperations; at++) {
        const world = new SharedLeaseFiles()
        const [first, second] = [world.start(), world.start()]
        if (!isFirstTake)
          for (const each of [first, second]) each.leases.take(idOf(2 + each.number), 0)
        let other: HeldLease | LeaseHeld | TakersLocked | undefined
        const from = first.operations
        first.fault = (count) => {
          if (count - from === at) other = second.leases.take(id, 1)
          return undefined
        }
        const found = first.leases.take(id, 0)
        first.fault = () => undefined
        if (other === undefined) continue
        const holders = [
          isLease(found) && first.leases.isHeld(id, found),
          isLease(other) && second.leases.isHeld(id, other),
        ]
        assert.strictEqual(holders.filter(Boolean).length, 1, `operation ${at}`)
        assert.deepStrictEqual(holders, [isLease(found), isLease(other)], `operation ${at}`)
      }
    }
  })

  it("L16 gives a free lease to one process only where the file system has no links", () => {
    for (const code of ["EPERM", "ENOTSUP", "ENOSYS", "EMLINK", "EIO"]) {
      const world = new SharedLeaseFiles()
      const [first, second] = [world.start(), world.start()]
      for (const each of [first, second]) {
        each.fault = (_count, operation) => (operation === "link" ? code : undefined)
        each.leases.take(idOf(2 + each.number), 0)
      }
      const held = taken(first)
      assert.instanceOf(second.leases.take(id, 1), LeaseHeld)
      assert.isTrue(first.leases.isHeld(id, held))
      first.leases.release(id, held)
      assert.isTrue(isLease(second.leases.take(id, 2)))
    }
  })

  it("L16 notices whatever happened to the file of a lease", () => {
    const changes: ReadonlyArray<
      readonly [string, (world: SharedLeaseFiles, path: string, other: LeaseProcess) => void]
    > = [
      ["removed", (world, path) => world.meddle(path)],
      ["emptied", (world, path) => world.meddle(path, "")],
      ["overwritten", (world, path) => world.meddle(path, "{}")],
      [
        "removed and taken by another process, with the same inode",
        (world, path, other) => {
          world.meddle(path)
          world.tick()
          assert.isTrue(isLease(other.leases.take(id, 1)))
        },
      ],
      [
        "removed, and taken twice by another process, with the same inode",
        (world, path, other) => {
          world.meddle(path)
          world.tick()
          const found = other.leases.take(id, 1)
          if (isLease(found)) other.leases.release(id, found)
          assert.isTrue(isLease(other.leases.take(id, 2)))
        },
      ],
    ]
    for (const [name, change] of changes) {
      const world = new SharedLeaseFiles()
      const [owner, other] = [world.start(), world.start()]
      for (const each of [owner, other]) each.leases.take(idOf(2 + each.number), 0)
      const held = taken(owner)
      change(world, owner.leases.pathOf(id), other)
      assert.isFalse(owner.leases.isHeld(id, held), name)
    }
  })

  it("L16 does not hold a lease that its own process released and took again, with the same stamp", () => {
    const world = new SharedLeaseFiles()
    const owner = world.start()
    const held = taken(owner)
    owner.leases.release(id, held)
    const again = taken(owner)
    assert.strictEqual(again.stamp, held.stamp)
    assert.isFalse(owner.leases.isHeld(id, held))
    assert.isTrue(owner.leases.isHeld(id, again))
  })

  it("L16 holds a lease whose file has another stamp and its own text", () => {
    const world = new SharedLeaseFiles()
    const owner = world.start()
    const held = taken(owner)
    world.tick()
    world.meddle(owner.leases.pathOf(id), held.text)
    assert.isTrue(owner.leases.isHeld(id, held))
  })

  it("L16 never writes into the file of a lease, also when the file that it is linked to stays behind", () => {
    const world = new SharedLeaseFiles()
    const owner = world.start()
    owner.leases.take(idOf(2), 0)
    owner.fault = (_count, operation) => (operation === "remove" ? "EIO" : undefined)
    const held = taken(owner)
    owner.fault = () => undefined
    assert.isTrue(isLease(owner.leases.take(idOf(3), 0)))
    assert.isTrue(owner.leases.isHeld(id, held))
    const next = world.start()
    assert.instanceOf(next.leases.take(id, 1), LeaseHeld)
  })

  it("checks a lease with one file operation, and takes a free one with three and no lock", () => {
    const owner = new SharedLeaseFiles().start()
    owner.leases.take(idOf(2), 0)
    const path = owner.leases.pathOf(id)
    const draft = "/state/colloquy-store/owners/00000000-0000-4000-8000-000000000001.new"
    let held: HeldLease | undefined
    const taking = owner.trace(() => {
      held = taken(owner)
    })
    assert.deepStrictEqual(taking, [`create ${draft}`, `link ${path}`, `remove ${draft}`])
    if (held === undefined) return
    const lease = held
    assert.deepStrictEqual(
      owner.trace(() => owner.leases.isHeld(id, lease)),
      [`stat ${path}`],
    )
    assert.deepStrictEqual(
      owner.trace(() => owner.leases.release(id, lease)),
      [`stat ${path}`, `remove ${path}`],
    )
  })

  it("L16 has at most one holder, with random operations of processes under random faults", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const draw = drawer(seed)
      const world = new SharedLeaseFiles()
      const living = [world.start(), world.start(), world.start()]
      const holders = new Map<LeaseProcess, HeldLease>()
      for (let step = 0; step < 60; step++) {
        const process = living[draw(living.length)]
        if (process === undefined) break
        process.fault = () => (draw(4) === 0 ? codes[draw(codes.length)] : undefined)
        act(draw(10), { world, process, living, holders })
        process.fault = () => undefined
        const now = [...holders].filter(([one, held]) => one.leases.isHeld(id, held))
        assert.isAtMost(now.length, 1, `seed ${seed}, step ${step}`)
        assert.strictEqual(now.length, holders.size, `seed ${seed}, step ${step}: a lease was lost`)
      }
    }
  })
})

/** The same seed yields the same numbers. */
const drawer = (seed: number) => {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

interface Moment {
  readonly world: SharedLeaseFiles
  readonly process: LeaseProcess
  readonly living: Array<LeaseProcess>
  readonly holders: Map<LeaseProcess, HeldLease>
}

const act = (roll: number, { holders, living, process, world }: Moment): void => {
  const held = holders.get(process)
  try {
    if (roll === 0) {
      world.kill(process)
      holders.delete(process)
      living.splice(living.indexOf(process), 1, world.start())
    } else if (held === undefined) {
      const found = process.leases.take(id, 0)
      if (isLease(found)) holders.set(process, found)
    } else if (roll < 4) {
      holders.delete(process)
      process.leases.release(id, held)
    } else if (roll < 7) process.leases.recordGeneration(id, held, roll)
    else
      assert.isTrue(
        process.leases.isHeld(id, held),
        "isHeld is false for a holder that lost its lease",
      )
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
  }
}

describe("a lease as the store uses it", () => {
  it.effect("L16 waits briefly for a file descriptor and then checks whether it is held", () =>
    Effect.gen(function* () {
      const process = new SharedLeaseFiles().start()
      const lease = yield* acquireLease(process.leases, id, 0)
      process.fault = () => "EMFILE"
      const asking = yield* Effect.forkChild(lease.isHeld, { startImmediately: true })
      yield* TestClock.adjust("500 millis")
      assert.isUndefined(asking.pollUnsafe())
      process.fault = () => undefined
      yield* TestClock.adjust("25 millis")
      assert.isTrue(yield* Fiber.join(asking))
      process.fault = () => "EMFILE"
      const again = yield* Effect.forkChild(Effect.flip(lease.isHeld), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Fiber.join(again)).code, "EMFILE")
      process.fault = () => undefined
    }),
  )

  it.effect("L16 is released as far as possible, and the process continues", () =>
    Effect.gen(function* () {
      const process = new SharedLeaseFiles().start()
      const scope = yield* Scope.make()
      yield* Scope.provide(acquireLease(process.leases, id, 0), scope)
      process.fault = () => "EMFILE"
      yield* Scope.close(scope, Exit.void)
      process.fault = () => undefined
      const lease = yield* acquireLease(process.leases, id, 1)
      assert.isTrue(yield* lease.isHeld)
    }),
  )
})

describe("the address of the process that has a lease", () => {
  const withUrl = (url: string | undefined) => {
    const world = new SharedLeaseFiles()
    const [owner, other] = [world.start(url), world.start()]
    taken(owner)
    const found = other.leases.take(id, 1)
    return found instanceof LeaseHeld ? found : undefined
  }

  it("is the one that the process publishes, and part of the message", () => {
    const held = withUrl("http://127.0.0.1:8747")
    assert.deepStrictEqual(held?.holder, {
      pid: 1,
      host: "here",
      sinceMs: 0,
      url: "http://127.0.0.1:8747",
    })
    assert.match(
      held?.message ?? "",
      / in use by process 1 on here, since .*, at http:\/\/127\.0\.0\.1:8747$/,
    )
  })

  it("is absent for a process that publishes none", () => {
    assert.deepStrictEqual(withUrl(undefined)?.holder, { pid: 1, host: "here", sinceMs: 0 })
  })

  it("is no reason to refuse a lease file where it is not a text", () => {
    const world = new SharedLeaseFiles()
    const [owner, other] = [world.start(), world.start()]
    const held = taken(owner)
    world.meddle(owner.leases.pathOf(id), held.text.replace('"pid":1', '"pid":1,"url":{}'))
    const found = other.leases.take(id, 1)
    assert.instanceOf(found, LeaseHeld)
    assert.notProperty(found.holder, "url")
  })
})
