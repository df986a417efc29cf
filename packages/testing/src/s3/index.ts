export { awsAt, startEmulators, startFaux, type Emulator } from './emulators.ts'
export { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.ts'
