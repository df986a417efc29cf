/** Travel modes, as bits of an access mask. */
export const Access = {
  car: 1,
  foot: 2,
  bicycle: 4,
  truck: 8,
  emergency: 16,
  taxi: 32,
  bus: 64,
  wheelchair: 128,
  moped: 256,
  motorcycle: 512,
} as const

/** Modes with an engine. */
export const MOTOR_ACCESS = Access.car | Access.truck | Access.taxi | Access.bus | Access.moped | Access.motorcycle

export const ALL_ACCESS = 1023

/** Importance of a street, most important first. */
export const RoadClass = {
  motorway: 0,
  trunk: 1,
  primary: 2,
  secondary: 3,
  tertiary: 4,
  unclassified: 5,
  residential: 6,
  service: 7,
} as const

/** Uses of streets and paths. */
export const Use = {
  road: 0,
  ramp: 1,
  turnChannel: 2,
  track: 3,
  driveway: 4,
  alley: 5,
  parkingAisle: 6,
  emergencyAccess: 7,
  driveThrough: 8,
  culdesac: 9,
  livingStreet: 10,
  serviceRoad: 11,
  cycleway: 20,
  sidewalk: 24,
  footway: 25,
  steps: 26,
  path: 27,
  pedestrian: 28,
  bridleway: 29,
  crossing: 32,
  elevator: 33,
  escalator: 34,
  platform: 35,
  other: 40,
  ferry: 41,
  railFerry: 42,
  construction: 43,
} as const

/** True for roads and service roads: not for footways, ferries, ramps, yards and the like. */
export function isStreet(use: number): boolean {
  return use === Use.road || use === Use.serviceRoad
}

/** Smoothness of the ground, best first. */
export const Surface = {
  pavedSmooth: 0,
  paved: 1,
  pavedRough: 2,
  compacted: 3,
  dirt: 4,
  gravel: 5,
  path: 6,
  impassable: 7,
} as const

/** Facilities for bicycles beside or on an edge, in ascending order. */
export const CycleLane = { none: 0, shared: 1, dedicated: 2, separated: 3 } as const

/** Types of nodes. */
export const NodeType = {
  plain: 0,
  gate: 1,
  bollard: 2,
  tollBooth: 3,
  motorwayJunction: 4,
  borderControl: 5,
  tollGantry: 6,
  sumpBuster: 7,
  buildingEntrance: 8,
  elevator: 9,
} as const

/** Kinds of intersections at a node. */
export const Intersection = { regular: 0, falseNode: 1, deadEnd: 2, fork: 3 } as const

/** Direction of a turn, clockwise from straight on. */
export const Turn = {
  straight: 0,
  slightRight: 1,
  right: 2,
  sharpRight: 3,
  reverse: 4,
  sharpLeft: 5,
  left: 6,
  slightLeft: 7,
} as const

/** Limits that a vehicle can break. Lengths in centimetres, weights in 10 kg, people by their number. */
export const Limit = {
  hazmat: 0,
  maxHeight: 1,
  maxWidth: 2,
  maxLength: 3,
  maxWeight: 4,
  maxAxleLoad: 5,
  maxAxles: 6,
  /** Minimum number of people in the vehicle. */
  minOccupants: 7,
} as const

/** Speed limit of a street with `maxspeed=none`. */
export const UNLIMITED = 255

/** Kinds of texts on signs. */
export const SignType = {
  exitNumber: 0,
  exitBranch: 1,
  exitToward: 2,
  exitName: 3,
  guideBranch: 4,
  guideToward: 5,
} as const

/** The turn of a clockwise angle in whole degrees (0 … 359). */
export function turnOf(degrees: number): number {
  return TURNS[degrees]!
}

const TURNS = Uint8Array.from({ length: 360 }, (_, degrees) => {
  if (degrees <= 10 || degrees >= 350) return Turn.straight
  if (degrees <= 44) return Turn.slightRight
  if (degrees <= 135) return Turn.right
  if (degrees <= 159) return Turn.sharpRight
  if (degrees <= 200) return Turn.reverse
  if (degrees <= 224) return Turn.sharpLeft
  return degrees <= 315 ? Turn.left : Turn.slightLeft
})
