/** Every fault that the simulation must detect. */
import { clusterMutations } from "./mutations.cluster.ts"
import { nodeMutations } from "./mutations.nodes.ts"
import { statelessMutations } from "./mutations.stateless.ts"
import { storageMutations } from "./mutations.storage.ts"
import { threadMutations } from "./mutations.threads.ts"
import { type Mutation, mutations as coreMutations } from "./mutations.ts"
import { wireMutations } from "./mutations.wire.ts"

export const mutations: ReadonlyArray<Mutation> = [
  ...coreMutations,
  ...storageMutations,
  ...wireMutations,
  ...statelessMutations,
  ...threadMutations,
  ...nodeMutations,
  ...clusterMutations,
]
