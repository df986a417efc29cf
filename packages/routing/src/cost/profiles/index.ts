import type { Profile } from '../profile.ts'
import { AUTO, BUS, TAXI } from './auto.ts'
import { BICYCLE } from './bicycle.ts'
import { MOTOR_SCOOTER } from './motor-scooter.ts'
import { MOTORCYCLE } from './motorcycle.ts'
import { PEDESTRIAN } from './pedestrian.ts'
import { TRUCK } from './truck.ts'

/** The travel modes that a request can name. */
export const PROFILES = {
  auto: AUTO,
  bicycle: BICYCLE,
  pedestrian: PEDESTRIAN,
  truck: TRUCK,
  bus: BUS,
  motor_scooter: MOTOR_SCOOTER,
  motorcycle: MOTORCYCLE,
  taxi: TAXI,
} as const satisfies Readonly<Record<string, Profile>>

export type Mode = keyof typeof PROFILES
