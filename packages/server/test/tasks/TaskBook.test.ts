import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Steps from "../../src/tasks/Task.ts"
import * as TaskBook from "../../src/tasks/TaskBook.ts"

const made = (
  book: TaskBook.TaskBook,
  principal: string,
  id: string,
  ttlMs: number | null = 10_000,
) =>
  Result.map(book.reserve(principal), ({ fill }) =>
    fill((ordinal) => Steps.create({ id, principal, ordinal, ttlMs, pollIntervalMs: 1000 }, 0)),
  )

const must = (added: Result.Result<Steps.Task, TaskBook.TooManyTasks>): Steps.Task => {
  if (Result.isFailure(added)) throw added.failure
  return added.success
}

const end = (book: TaskBook.TaskBook, task: Steps.Task, nowMs = 0, chars = 0) =>
  book.put(Steps.finish(task, { _tag: "Result", result: { content: [] } }, nowMs), chars)

const limited = (limits: Partial<TaskBook.TaskLimits> = {}) =>
  new TaskBook.TaskBook({ ...TaskBook.defaultLimits, ...limits })

describe("TaskBook", () => {
  it("finds a task only for its principal", () => {
    const book = limited()
    const task = must(made(book, "ann", "a"))
    assert.strictEqual(book.find("ann", "a", 0), task)
    assert.strictEqual(book.find("bob", "a", 0), undefined)
    assert.strictEqual(book.find("ann", "b", 0), undefined)
  })

  it("refuses one more than an owner may have, and names the bound", () => {
    const book = limited({ maxPerPrincipal: 2 })
    must(made(book, "ann", "a"))
    must(made(book, "ann", "b"))
    const refused = made(book, "ann", "c")
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) {
      assert.deepStrictEqual(
        [refused.failure.limit, refused.failure.max, refused.failure.message],
        [
          "maxPerPrincipal",
          2,
          "no room for another task: maxPerPrincipal is 2; ended tasks are removed after their ttl",
        ],
      )
    }
    assert.isTrue(Result.isSuccess(made(book, "bob", "d")))
  })

  it("refuses one more than all owners may have", () => {
    const book = limited({ maxTasks: 2 })
    must(made(book, "ann", "a"))
    must(made(book, "bob", "b"))
    const refused = made(book, "eve", "c")
    assert.strictEqual(Result.isFailure(refused) && refused.failure.limit, "maxTasks")
    assert.strictEqual(book.size, 2)
  })

  it("L6 counts a reserved place as a task until it is released, and fills it once", () => {
    const book = limited({ maxPerPrincipal: 1 })
    const place = Result.getOrThrow(book.reserve("ann"))
    assert.isTrue(Result.isFailure(made(book, "ann", "a")))
    assert.strictEqual(book.size, 0)
    place.release()
    place.release()
    const task = must(made(book, "ann", "b"))
    assert.isTrue(Result.isFailure(book.reserve("ann")))
    assert.throws(() => place.fill(() => task), /filled or released/)
    book.remove(task)
    const next = Result.getOrThrow(book.reserve("ann"))
    next.fill(() => task)
    next.release()
    assert.isTrue(Result.isFailure(book.reserve("ann")))
  })

  it("rejects new tasks while the kept results exceed the limit, and accepts them again once those are removed", () => {
    const book = limited({ maxKeptChars: 100 })
    end(book, must(made(book, "ann", "a")), 0, 60)
    end(book, must(made(book, "ann", "b")), 0, 60)
    const refused = made(book, "ann", "c")
    assert.strictEqual(Result.isFailure(refused) && refused.failure.limit, "maxKeptChars")
    assert.deepStrictEqual(book.sweep(10_000), ["a", "b"])
    assert.isTrue(Result.isSuccess(made(book, "ann", "c")))
  })

  it("removes a task when its ttl has passed and not a millisecond before", () => {
    const book = limited()
    end(book, must(made(book, "ann", "a", 5000)))
    end(book, must(made(book, "ann", "b", 9000)))
    must(made(book, "ann", "runs", 1000))
    assert.strictEqual(book.nextExpiryMs(), 5000)
    assert.deepStrictEqual(book.sweep(4999), [])
    assert.isDefined(book.find("ann", "a", 4999))
    assert.isUndefined(book.find("ann", "a", 5000))
    assert.deepStrictEqual(book.sweep(5000), ["a"])
    assert.strictEqual(book.nextExpiryMs(), 9000)
    assert.deepStrictEqual(book.sweep(9000), ["b"])
    assert.strictEqual(book.nextExpiryMs(), undefined)
    assert.strictEqual(book.size, 1)
  })

  it("does not restore a removed task", () => {
    const book = limited()
    const task = must(made(book, "ann", "a"))
    book.remove(task)
    end(book, task, 0, 10)
    assert.deepStrictEqual([book.size, book.find("ann", "a", 0)], [0, undefined])
  })

  it("lists an owner's tasks in the order of creation, page by page, whatever ended or was removed between", () => {
    const book = limited()
    const tasks = ["a", "b", "c", "d", "e"].map((id) => must(made(book, "ann", id, 1000)))
    must(made(book, "bob", "x"))
    const ids = (page: TaskBook.TaskPage) => page.tasks.map(({ id }) => id)
    const first = book.page("ann", 0, 2, 0)
    assert.deepStrictEqual([ids(first), first.next], [["a", "b"], 2])
    for (const task of tasks.slice(1, 3)) end(book, task)
    const second = book.page("ann", 2, 2, 1000)
    assert.deepStrictEqual([ids(second), second.next], [["d", "e"], undefined])
    assert.deepStrictEqual(book.page("ann", 9, 2, 0), { tasks: [] })
    assert.deepStrictEqual(book.page("eve", 0, 2, 0), { tasks: [] })
  })
})
