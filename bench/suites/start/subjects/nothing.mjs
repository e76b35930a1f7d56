// What it takes to import a module and to call a function of it: no package can take less.
export const use = () => true;
