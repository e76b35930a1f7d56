// The floor of every package: importing a module and calling a function.
export const use = () => true;
