/** Makes a failing plan shorter while it still fails: fewer clients, operations, responses and faults. Pure. */
import type { Plan } from "./Plan.ts"

const fewerOperations = function* (plan: Plan): Generator<Plan> {
  const { clients } = plan
  for (let i = 0; i < clients.length; i++) {
    if (clients.length > 1) yield { ...plan, clients: clients.toSpliced(i, 1) }
  }
  for (const [i, operations] of clients.entries()) {
    for (let size = operations.length >> 1; size >= 1; size >>= 1) {
      for (let at = 0; at + size <= operations.length; at += size) {
        yield { ...plan, clients: clients.with(i, operations.toSpliced(at, size)) }
      }
    }
  }
}

const fewerStoreFaults = function* (plan: Plan): Generator<Plan> {
  const { store } = plan
  if (store.restart) yield { ...plan, store: { ...store, restart: false } }
  for (let i = 0; i < store.faults.length; i++) {
    yield { ...plan, store: { ...store, faults: store.faults.toSpliced(i, 1) } }
  }
  for (let i = 0; i < store.appendFaults.length; i++) {
    yield { ...plan, store: { ...store, appendFaults: store.appendFaults.toSpliced(i, 1) } }
  }
  for (let i = 0; i < store.unaudited.length; i++) {
    yield { ...plan, store: { ...store, unaudited: store.unaudited.toSpliced(i, 1) } }
  }
}

const smallerModel = function* (plan: Plan): Generator<Plan> {
  const { model } = plan
  for (let i = 0; i < model.length; i++) {
    if (model.length > 1) yield { ...plan, model: model.toSpliced(i, 1) }
  }
  for (const [i, response] of model.entries()) {
    if (response.calls.length > 0)
      yield { ...plan, model: model.with(i, { ...response, calls: [] }) }
    if (response.reasoning > 0)
      yield { ...plan, model: model.with(i, { ...response, reasoning: 0 }) }
    if (response.pieces > 1) {
      yield { ...plan, model: model.with(i, { ...response, pieces: response.pieces >> 1 }) }
    }
  }
}

const fewerInterrupts = function* (plan: Plan): Generator<Plan> {
  const { clients } = plan
  for (const [i, operations] of clients.entries()) {
    for (const [j, operation] of operations.entries()) {
      if (operation.giveUpAfter === undefined) continue
      const { giveUpAfter: _, ...patient } = operation
      yield { ...plan, clients: clients.with(i, operations.with(j, patient)) }
    }
  }
}

/** Every plan that is this one with one part removed, the largest cuts first. */
export const smaller = function* (plan: Plan): Generator<Plan> {
  yield* fewerOperations(plan)
  yield* fewerStoreFaults(plan)
  yield* smallerModel(plan)
  yield* fewerInterrupts(plan)
}

/**
 * Searches for the shortest plan for which `fails` still holds.
 *
 * @param smaller returns the candidates that replace a failing plan
 * @param maxTries most plans that are run
 */
export const shrink = <P>(
  plan: P,
  fails: (plan: P) => boolean,
  smaller: (plan: P) => Iterable<P>,
  maxTries = 600,
): { readonly plan: P; readonly tries: number } => {
  let shortest = plan
  let tries = 0
  const once = (): boolean => {
    for (const candidate of smaller(shortest)) {
      if (tries >= maxTries) return false
      tries++
      if (fails(candidate)) {
        shortest = candidate
        return true
      }
    }
    return false
  }
  while (once());
  return { plan: shortest, tries }
}
