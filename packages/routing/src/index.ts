export type { SectionFile } from './graph/sections.ts'
export { buildNetwork, buildNetworkFile } from './network/build.ts'
export type { BuildOptions } from './build/build-graph.ts'
export { mapNetworkFile, readNetworkFile, writeNetworkFile } from './network/file.ts'
export { factsOf } from './network/network.ts'
export type { Network, NetworkFacts } from './network/network.ts'
export { openShared, shareNetwork } from './network/share.ts'
export type { SharedNetwork } from './network/share.ts'
export { refusalOf, Router } from './router.ts'
export { OSRM_ACTIONS, OSRM_SERVICES, osrmRequest } from './osrm/request.ts'
export type { OsrmService } from './osrm/request.ts'
export { ACTIONS } from './actions.ts'
export type { Action, Work } from './actions.ts'
export type { SearchKind } from './path/planner.ts'
export type { RouterOptions, SentAnswer, TileAnswer } from './router.ts'
export { DEFAULT_LIMITS } from './request/limits.ts'
export type { Limits } from './request/limits.ts'
export { osrmProblem, problemBody, RouteProblem } from './request/problems.ts'
export type { ProblemBody } from './request/problems.ts'
export { MODES } from './cost/options.ts'
export type { Mode } from './cost/options.ts'
export type {
  RouteResponse,
  SignElement,
  Summary,
  Trip,
  TripLeg,
  TripLocation,
  TripManeuver,
  TripSign,
} from './respond/response.ts'
export { emptyNetwork, mappingFailed, notAGraph } from './errors.ts'
